package dev.hongbao.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Servers of one Postgres, each with a Redis of its own, on virtual time: the second one is refused. */
class SameRedisTest {
    private static final int SHARDS = 4;

    private final World world = new World(1, null);
    private final SimulatedPostgres postgres =
            new SimulatedPostgres(world, new PostgresTables(SHARDS, world::now, new PostgresTables.Moves() {}));
    private final SimulatedBus bus = new SimulatedBus(world, true);

    private Future<?> start(String name) {
        World.Host host = new World.Host(name, 0);
        return new SimulatedServer(
                        world,
                        host,
                        postgres,
                        new RedisServers(world, 1, wrote -> {}),
                        bus.line(host),
                        new Random(1),
                        shown -> {},
                        false,
                        1_000)
                .start();
    }

    private void pass(int seconds) {
        for (long end = world.now() + seconds * 1_000 * World.MILLI; world.now() < end; ) {
            world.step();
        }
    }

    private static void assertRefused(Future<?> start) {
        assertThat(start.cause())
                .hasMessageContaining("redis.url, redis.namespace: the other servers of this Postgres work in another");
    }

    @Test
    void aServerIsRefusedBesideOneThatWorksElsewhere() {
        // Given
        Future<?> first = start("first");
        pass(5);
        assertThat(first.succeeded()).isTrue();

        // When
        Future<?> second = start("second");
        pass(14);

        // Then it looks for the shards until the others must have loaded them
        assertThat(second.isComplete()).isFalse();
        pass(5);
        assertRefused(second);
    }

    @Test
    void ofTwoThatStartTogetherOneIsRefused() {
        // When
        List<Future<?>> starts =
                Stream.<Future<?>>of(start("one"), start("other")).toList();
        pass(20);

        // Then
        assertThat(starts).filteredOn(Future::succeeded).hasSize(1);
        assertThat(starts).filteredOn(Future::failed).singleElement().satisfies(SameRedisTest::assertRefused);
    }
}
