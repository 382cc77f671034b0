package dev.hongbao.packet;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UserId;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** What it costs to tell what a user won in a time. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PacketEndsIT {
    private static final int EACH = 5;

    private final List<Packet> sent = new ArrayList<>();
    private TestServers servers;
    private TestEngine engine;

    @BeforeAll
    void refundedAndDrainedPackets(TestServers given) {
        servers = given;
        engine = TestEngine.start(servers, 1, Map.of());
        engine.deposit("alice", 1_000_000);
        Books books = new Books(servers);
        for (int i = 0; i < 2 * EACH; i++) {
            Packet packet = engine.send("alice", 1000, 3);
            sent.add(packet);
            engine.claim(packet, "bob").wonClaim();
            if (i < EACH) {
                books.expire(packet);
            } else {
                engine.claim(packet, "alice").wonClaim();
                engine.claim(packet, "carol").wonClaim();
            }
            books.awaitClosed(packet);
        }
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private PacketService fresh() {
        return new CountingPool(engine.engine().pool()).service();
    }

    @Test
    void claimsOfAPastPeriodReadNoLaterMonth() {
        Pool one = oneTransaction();
        PacketService.Period past = new PacketService.Period(null, Instant.parse("2020-01-01T00:00:00Z"));

        assertThat(get(new CountingPool(one).service().claimsOf(new UserId("bob"), past, null, null, 50))
                        .items())
                .isEmpty();

        assertThat(PacketReadingIT.rowsRead(one, "transfer")).isZero();
        get(one.close());
    }

    @Test
    void ofAPeriodOneListOfAUserIsReadAtATime() {
        // Given a list that is being read: it takes as long as the user has claims
        PacketService service = fresh();
        UserId bob = new UserId("bob");
        PacketService.Period period = new PacketService.Period(Instant.parse("2020-01-01T00:00:00Z"), null);
        var first = service.claimsOf(bob, period, null, null, 10);

        // When, Then another one is refused, and nobody else's, nor what is read from its newest on
        var second = service.claimsOf(bob, period, null, null, 10);
        var other = service.claimsOf(new UserId("alice"), period, null, null, 10);
        var all = service.claimsOf(bob, PacketService.Period.ALL, null, null, 10);
        assertThatThrownBy(() -> get(second)).hasStackTraceContaining("under way");
        assertThat(get(other).items()).isNotEmpty();
        assertThat(get(all).items()).hasSize(10);
        assertThat(get(first).items()).hasSize(10);

        // And when it was read, it may be again
        assertThat(get(service.claimsOf(bob, period, null, null, 10)).items()).hasSize(10);
    }

    /** A pool of one connection that is in a transaction, so that it tells what it has read. */
    private Pool oneTransaction() {
        Pool one = PgBuilder.pool()
                .with(new PoolOptions().setMaxSize(1))
                .connectingTo(PostgresAddress.of(servers.postgresAppUrl()).connectOptions())
                .using(engine.vertx())
                .build();
        get(one.query("begin").execute());
        return one;
    }
}
