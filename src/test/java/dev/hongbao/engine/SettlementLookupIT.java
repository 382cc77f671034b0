package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Who is looked up in Postgres while they wait; the time is the test's. */
@ExtendWith(Servers.class)
class SettlementLookupIT {
    private static final int BUSY = 3;
    private static final int SILENT = 4;

    private final AtomicLong nanos = new AtomicLong();
    private final List<Collection<String>> lookups = new CopyOnWriteArrayList<>();
    private final Vertx vertx = Vertx.vertx();
    private Context loop;
    private SettlementWaiters<String, String> waiters;

    @BeforeEach
    void make(TestServers servers) {
        TestEngine.start(servers, 1, Map.of()).close(); // makes the schema and the shards
        Pool pool = PgBuilder.pool()
                .connectingTo(PostgresAddress.of(servers.postgresAppUrl()).connectOptions())
                .using(vertx)
                .build();
        loop = ((VertxInternal) vertx).createEventLoopContext();
        waiters = onLoop(() -> new SettlementWaiters<>(
                Loop.of(vertx),
                new Shards(new ShardStore(pool, new Installation(new UUID(0, 0), "test")), 16, Map.of()),
                100,
                this::lookUp,
                waited -> {},
                nanos::get));
    }

    @AfterEach
    void end() {
        get(vertx.close());
    }

    private Future<Map<String, String>> lookUp(Collection<String> keys) {
        lookups.add(List.copyOf(keys));
        return Future.succeededFuture(Map.of());
    }

    private <T> T onLoop(Callable<T> work) {
        Promise<T> done = Promise.promise();
        loop.runOnContext(now -> done.complete(call(work)));
        return get(done.future());
    }

    private static <T> T call(Callable<T> work) {
        try {
            return work.call();
        } catch (Exception fault) {
            throw new IllegalStateException(fault);
        }
    }

    private Future<String> await(String key, int shard) {
        return waiters.await(key, new Generation("test", shard, 1, "nonce"), true, Long.MAX_VALUE);
    }

    /** For what another server's call accepted: its settlement is told there. */
    private Future<String> awaitUntold(String key, int shard) {
        return waiters.await(key, new Generation("test", shard, 1, "nonce"), false, Long.MAX_VALUE);
    }

    private void awaitLookupOf(String key) {
        eventually(Duration.ofSeconds(10), () -> assertThat(lookups).anyMatch(keys -> keys.contains(key)));
    }

    @Test
    void whoWaitsLongIsLookedUpButNotWhileTheShardsSettlementsAreHeardOf() {
        // Given two who wait in a shard that settles one after the other, and one where nothing is heard
        onLoop(() -> {
            await("first", BUSY);
            await("second", BUSY);
            await("other", SILENT);
            nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
            waiters.settled("first", "7 fen");
            return null;
        });

        // When
        awaitLookupOf("other");

        // Then
        assertThat(lookups).noneMatch(keys -> keys.contains("second"));

        // When nothing is heard of that shard for as long as a large settlement takes
        onLoop(() -> {
            await("another", SILENT);
            return nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(150));
        });
        awaitLookupOf("another");

        // Then
        assertThat(lookups).noneMatch(keys -> keys.contains("second"));

        // When nothing is heard of it for longer
        onLoop(() -> nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(400)));

        // Then
        awaitLookupOf("second");
    }

    @Test
    void whoWaitsForWhatAnotherServerAcceptedIsLookedUpWhateverIsHeard() {
        // Given
        onLoop(() -> {
            await("ours", BUSY);
            awaitUntold("theirs", BUSY);
            await("settled", BUSY);
            waiters.settled("settled", "7 fen");

            // When
            return nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
        });

        // Then
        awaitLookupOf("theirs");
        assertThat(lookups).noneMatch(keys -> keys.contains("ours"));
    }

    @Test
    void whoWaitsTooLongIsLookedUpWhateverIsHeard() {
        // Given
        List<Collection<String>> seen = onLoop(() -> {
            await("missed", BUSY);
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
            await("late", BUSY);
            waiters.settled("late", "7 fen");
            return new ArrayList<>(lookups);
        });

        // When, Then
        assertThat(seen).isEmpty();
        awaitLookupOf("missed");
    }
}
