package dev.hongbao.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Installation;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.SettlementWaiters;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.engine.Shards;
import io.vertx.core.Future;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Which waiting items are looked up in Postgres, on virtual time. */
class SettlementLookupTest {
    private static final int SHARDS = 16;
    private static final int BUSY = 3;
    private static final int SILENT = 4;

    private final World world = new World(1, null);
    private final World.Host host = new World.Host("server", 0);
    private final Set<String> lookups = new HashSet<>();
    private final SettlementWaiters<String, String> waiters = waiters();

    private SettlementWaiters<String, String> waiters() {
        Loop loop = new World.Loops(world, host).loop();
        PostgresTables tables = new PostgresTables(SHARDS, world::now, new PostgresTables.Moves() {});
        SimulatedPostgres postgres = new SimulatedPostgres(world, tables);
        ShardStore store = new ShardStore(
                new PostgresClients(world, host, postgres).pool(1), new Installation(new UUID(0, 0), "test"));
        return new SettlementWaiters<>(
                loop,
                new Shards(store, SHARDS, Map.of()),
                100,
                keys -> {
                    lookups.addAll(keys);
                    return Future.succeededFuture(Map.of());
                },
                waited -> {},
                loop::nanos);
    }

    private void await(String key, int shard, boolean isTold) {
        waiters.await(key, new Generation("test", shard, 1, "nonce"), isTold, Long.MAX_VALUE);
    }

    private void settle(String key) {
        await(key, BUSY, true);
        waiters.settled(key, "7 fen");
    }

    private void pass(long millis) {
        for (long end = world.now() + millis * World.MILLI; world.now() < end; ) {
            world.step();
        }
    }

    @Test
    void aLongWaitIsLookedUpUnlessTheShardsSettlementsAreHeardOf() {
        // Given a wait in a shard that settles, and one in a silent shard
        await("busy", BUSY, true);
        await("silent", SILENT, true);
        pass(20);
        settle("another");

        // When
        pass(400);

        // Then
        assertThat(lookups).containsExactly("silent");

        // When the busy shard is silent for longer than a large settlement takes
        pass(300);

        // Then
        assertThat(lookups).contains("busy");
    }

    @Test
    void aWaitForWhatAnotherServerAcceptedIsLookedUpWhateverIsHeard() {
        // Given a wait of which the shard's writer tells another server
        await("ours", BUSY, true);
        await("theirs", BUSY, false);
        pass(20);
        settle("another");

        // When
        pass(200);

        // Then
        assertThat(lookups).containsExactly("theirs");
    }

    @Test
    void aWaitOfMoreThanASecondIsLookedUpWhateverIsHeard() {
        // Given
        await("missed", BUSY, true);

        pass(40);

        // When the shard settles all the while
        for (int settled = 0; settled < 9; settled++) {
            settle("early" + settled);
            pass(100);
        }

        // Then
        assertThat(lookups).isEmpty();

        // When it goes on
        for (int settled = 0; settled < 4; settled++) {
            settle("late" + settled);
            pass(100);
        }

        // Then
        assertThat(lookups).containsExactly("missed");
    }
}
