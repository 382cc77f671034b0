package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Draws;
import dev.hongbao.engine.Mode.ShardLoader;
import dev.hongbao.engine.Shards.Symptom;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.Packets;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RelayedLink;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.sqlclient.Pool;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** A packet or a draw of which Redis has users, and not the field that every script begins with. */
@ExtendWith(Servers.class)
class HalfLoadedIT {
    private static final Duration SOON = Duration.ofSeconds(5);
    private static final String TABLE = "mode: table\nprizes: [{name: P, count: 10}]\n";

    private TestEngine engine;
    private TestDraws draws;
    private Books books;
    private Jedis redis;
    private Pool pool;

    @BeforeEach
    void start(TestServers servers) {
        books = new Books(servers);
        redis = new Jedis(URI.create(servers.redisUrl()));
        engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
        engine.deposit("alice", 100_000);
        draws = new TestDraws(engine);
        pool = engine.engine().pool();
    }

    @AfterEach
    void stop() {
        books.assertClean();
        engine.close();
        redis.close();
    }

    private Generation generation() {
        return engine.shards(1).current(0).generation();
    }

    /** A script that was called before its end was settled. */
    @Test
    void theKeyOfAClosedPacketIsNotMissed() {
        // Given
        Packet packet = engine.send("alice", 10, 1);
        engine.claim(packet, "bob");
        books.awaitClosed(packet);
        Generation before = generation();
        String key = key(Packets.TRAITS, packet.id().value());
        redis.del(key);

        // When
        get(engine.shards(1).report(before, Symptom.missing(key)));

        // Then
        for (int i = 0; i < 20; i++) {
            engine.claim(engine.send("alice", 10, 2), "bob");
        }
        assertThat(generation()).isEqualTo(before);
    }

    @Test
    void nothingIsLoadedOfAPacketThatAnOperatorBringsBackMeanwhile() {
        // Given a packet that is set aside, and another one
        Packet packet = engine.send("alice", 1000, 5);
        engine.claim(packet, "bob");
        engine.send("alice", 1000, 5);
        String key = key(Packets.TRAITS, packet.id().value());
        setAside("packet", packet.id().value(), key);

        // When it is brought back while its shard is loaded
        load(
                engine.engine().packets.mode(Loop.of(engine.vertx()), pool).loader(),
                packet.id().value());

        // Then, and whoever misses it has it loaded as a whole
        assertThat(redis.exists(key)).isFalse();
        eventually(
                SOON, () -> assertThat(engine.claim(packet, "carol").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED));
        assertThat(engine.claim(packet, "bob").wonClaim().slot()).isZero();
    }

    @Test
    void nothingIsLoadedOfADrawThatAnOperatorBringsBackMeanwhile() {
        // Given
        Draw draw = draws.create(TABLE + "limits: {total: 5}\n");
        get(draws.play(0, draw, "bob"));
        assertThat(books.longOf("select count(*) from player where draw = '" + draw.id() + "'"))
                .isOne();
        draws.create(TABLE);
        String key = key(Draws.TRAITS, draw.id().value());
        setAside("draw", draw.id().value(), key);

        // When
        load(
                engine.engine()
                        .draws
                        .mode(Loop.of(engine.vertx()), pool, Duration.ofSeconds(10))
                        .loader(),
                draw.id().value());

        // Then
        assertThat(redis.exists(key)).isFalse();
    }

    /** The hash of a packet or draw, the first of its keys. */
    private String key(Mode.Traits mode, UUID unit) {
        return mode.keys().of(generation(), unit).get(0);
    }

    private void setAside(String kind, UUID id, String key) {
        books.execute("insert into quarantine_unit (id, kind, shard, sqlstate, reason) values ('" + id + "', '" + kind
                + "', 0, '', 'a test')");
        redis.del(key);
    }

    private void load(ShardLoader loader, UUID broughtBack) {
        Generation generation = generation();
        get(engine.loop(0)
                .call(services -> loader.load(
                        pool,
                        new BringsBack(services.redis.linkFor(generation.journalKey()), broughtBack),
                        generation)));
    }

    /** With the first command it is not set aside any more. */
    private final class BringsBack extends RelayedLink {
        private final UUID unit;

        BringsBack(RedisLink link, UUID unit) {
            super(link);
            this.unit = unit;
        }

        @Override
        public Future<Response> send(Request request) {
            books.execute("delete from quarantine_unit where id = '" + unit + "'");
            return link.send(request);
        }
    }
}
