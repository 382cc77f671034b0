package dev.hongbao.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.simulation.SimulatedPostgres.Advisory;
import dev.hongbao.simulation.SimulatedRedis.Loss;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A store answers badly, or one server reaches it badly. On virtual time, since servers wait for seconds before they act. */
class UnwellStoresTest {
    private static final int SHARDS = 6;
    private static final int SHARES = 1_000;

    private World world;
    private PostgresTables tables;
    private SimulatedPostgres postgres;
    private RedisServers redis;
    private SimulatedBus bus;
    private final List<UUID> packets = new ArrayList<>();
    private int users;

    @BeforeEach
    void forget() {
        packets.clear();
    }

    /** A server that owns all shards, and a packet of each. */
    private SimulatedServer begin(long seed) {
        world = new World(seed, null);
        tables = new PostgresTables(SHARDS, world::now, new PostgresTables.Moves() {});
        postgres = new SimulatedPostgres(world, tables);
        redis = new RedisServers(world, 1, wrote -> {});
        bus = new SimulatedBus(world, true);
        for (int shard = 0; shard < SHARDS; shard++) {
            packets.add(new UUID(7, shard));
            tables.add(
                    packets.get(shard), shard, Collections.nCopies(SHARES, 1L).toArray(Long[]::new), 3_600_000);
        }
        SimulatedServer first = server("first");
        await(5, () -> first.shards.owned().size() == SHARDS);
        return first;
    }

    private SimulatedServer server(String name) {
        World.Host host = new World.Host(name, 0);
        SimulatedServer server = new SimulatedServer(
                world, host, postgres, redis, bus.line(host), new Random(1), shown -> {}, false, 1_000);
        server.start();
        await(5, server::isServing);
        return server;
    }

    private void await(int seconds, BooleanSupplier condition) {
        for (long end = world.now() + seconds * 1_000 * World.MILLI; !condition.getAsBoolean(); ) {
            assertThat(world.now()).as("within " + seconds + " s").isLessThan(end);
            world.step();
        }
    }

    private void pass(long millis) {
        for (long end = world.now() + millis * World.MILLI; world.now() < end; ) {
            world.step();
        }
    }

    private List<Future<ClaimOutcome>> claimOfEach(SimulatedServer server) {
        String user = "user-" + users++;
        return packets.stream()
                .map(packet -> server.claim(user, true, packet, accepted -> {}))
                .toList();
    }

    private static boolean areClaimed(List<Future<ClaimOutcome>> claims) {
        return claims.stream()
                .allMatch(claim -> claim.succeeded() && claim.result().kind() == Kind.CLAIMED);
    }

    private Set<Integer> sessionsWithLocks(SimulatedServer server) {
        return postgres.advisory(History.PRESENCE_LOCKS).values().stream()
                .flatMap(Set::stream)
                .filter(session -> session.host == server.host)
                .map(session -> session.pid)
                .collect(Collectors.toSet());
    }

    private int owned(SimulatedServer server) {
        return (int) IntStream.range(0, SHARDS)
                .filter(shard -> postgres.holds(server.host, new Advisory(History.SHARD_LOCKS, shard)))
                .count();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void nobodyWaitsForAServerWhoseLineToRedisIsDeadAndItKeepsItsConnectionToPostgres(long seed) {
        // Given servers that wait for Redis for longer than Postgres waits for them
        SimulatedServer owner = begin(seed);
        SimulatedServer idle = server("idle");
        redis.some().timeout(7_000);
        Set<Integer> before = sessionsWithLocks(idle);
        assertThat(before).hasSize(1);

        // When the open connections of one die silently, and the other one gives it half of the shards
        redis.some().cutOff(idle.host, Loss.ALL);
        redis.some().letIn(idle.host);
        List<Future<ClaimOutcome>> claims = new ArrayList<>();
        await(30, () -> {
            pass(50);
            claims.addAll(claimOfEach(owner));
            return idle.shards.owned().size() == SHARDS / 2;
        });

        // Then it settles its part all the same, and no claim waited for it in vain
        pass(2_500);
        assertThat(claims).allMatch(Future::isComplete);
        assertThat(areClaimed(claims)).isTrue();
        assertThat(sessionsWithLocks(idle)).isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aServerThatCannotSettleGivesItsShardsToOneThatCan(long seed) {
        // Given two servers that own half of the shards each
        SimulatedServer poor = begin(seed);
        SimulatedServer rich = server("rich");
        await(15, () -> owned(rich) == SHARDS / 2);

        // When all connections of one but its locks' end, and it gets no more
        postgres.leaveOnlyLocks(poor.host);
        claimOfEach(rich);

        // Then the other one settles the claims of all shards
        await(10, () -> owned(rich) == SHARDS);
        pass(500);
        List<Future<ClaimOutcome>> claims = claimOfEach(rich);
        pass(2_000);
        assertThat(areClaimed(claims)).isTrue();
        assertThat(sessionsWithLocks(poor)).isEmpty();

        // When there are connections again, Then it is back, and its claims are settled
        postgres.letIn(poor.host);
        await(5, () -> !sessionsWithLocks(poor).isEmpty());
        List<Future<ClaimOutcome>> late = claimOfEach(poor);
        pass(2_000);
        assertThat(areClaimed(late)).isTrue();
        await(15, () -> owned(poor) == SHARDS / 2);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aShardWhoseStatementsTakeTooLongRestsAndTheOthersSettle(long seed) {
        // Given a packet that takes longer to settle than a statement may
        SimulatedServer owner = begin(seed);
        UUID slow = packets.remove(0);
        tables.slow.add(slow);

        // When
        owner.claim("slow", true, slow, accepted -> {});

        // Then, once it was tried alone, it rests, and the others have the connection for themselves
        List<Future<ClaimOutcome>> others = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            others.addAll(claimOfEach(owner));
            pass(50);
        }
        assertThat(tables.cancelled).isBetween(1, 2);
        pass(100);
        assertThat(areClaimed(others)).isTrue();

        // When it does no more, Then
        tables.slow.clear();
        await(5, () -> tables.packets.get(slow).of("slow") != null);
    }
}
