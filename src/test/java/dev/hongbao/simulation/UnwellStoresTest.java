package dev.hongbao.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.simulation.SimulatedPostgres.Advisory;
import dev.hongbao.simulation.SimulatedRedis.Loss;
import dev.hongbao.store.redis.Script;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

    private static boolean isSetAside(Future<ClaimOutcome> claim) {
        return claim.cause() instanceof UnavailableException refused
                && refused.reason() == UnavailableException.Reason.SET_ASIDE;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void moreThanFiveInAMinuteAreNotSetAsideAndTheirShardWaits(long seed) {
        // Given
        SimulatedServer owner = begin(seed);
        tables.poisoned.addAll(packets);

        // When six are refused, one after the other
        for (UUID packet : packets.subList(0, 5)) {
            Future<ClaimOutcome> claim = owner.claim("bob", true, packet, accepted -> {});
            await(2, claim::isComplete);
            assertThat(isSetAside(claim)).isTrue();
        }
        UUID last = packets.get(5);
        Future<ClaimOutcome> waiting = owner.claim("bob", true, last, accepted -> {});
        pass(1_500);

        // Then
        assertThat(waiting.isComplete()).isFalse();
        assertThat(tables.aside).containsOnlyKeys(packets.subList(0, 5));

        // When the cause is repaired, Then
        tables.poisoned.clear();
        await(5, () -> tables.packets.get(last).of("bob") != null);
        assertThat(tables.aside).hasSize(5);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void whoWaitsElsewhereForWhatTheOwnerSetsAsideIsToldWhy(long seed) {
        // Given
        begin(seed);
        SimulatedServer other = server("other");
        UUID packet = packets.get(0);
        tables.poisoned.add(packet);

        // When
        Future<ClaimOutcome> claim = other.claim("bob", true, packet, accepted -> {});

        // Then at once, and not at the end of the time that a caller waits
        await(1, claim::isComplete);
        assertThat(isSetAside(claim)).isTrue();
        Future<ClaimOutcome> next = other.claim("carol", true, packet, accepted -> {});
        await(1, next::isComplete);
        assertThat(isSetAside(next)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aShardsRowThatIsSetBackWhileServersWorkGetsAnEpochThatWasNeverUsed(long seed) {
        // Given servers at rest, and a generation that is not the first
        SimulatedServer owner = begin(seed);
        SimulatedServer other = server("other");
        await(15, () -> owned(other) == SHARDS / 2);
        pass(1_000);
        PostgresTables.Shard shard = tables.shards.get(0);
        String first = shard.nonce;
        redis.some().forgetScripts();
        await(5, () -> shard.epoch == 2);
        settle(owner, 0);
        settle(other, 1);

        // When
        shard.epoch = 1;
        shard.nonce = first;
        shard.lastSeq = 0;

        // Then
        await(5, () -> shard.epoch > 2);
        settle(other, 2);

        // When only the cursor is set back
        long epoch = shard.epoch;
        shard.lastSeq--;

        // Then
        await(5, () -> shard.epoch > epoch);
        settle(other, 3);
        settle(owner, 4);
    }

    /** A claim of the first shard gets the next slot. */
    private void settle(SimulatedServer server, int slot) {
        String user = "user-" + slot;
        Future<ClaimOutcome> claim = server.claim(user, true, packets.get(0), accepted -> {});
        await(5, claim::isComplete);
        assertThat(claim.result().wonClaim().slot()).isEqualTo(slot);
        assertThat(tables.packets.get(packets.get(0)).of(user).slot()).isEqualTo(slot);
    }

    /**
     * As by SWAPDB or a snapshot of its machine: it has its scripts and its replication id.
     *
     * @param accepted claims after that, before anybody looks; with three the journal has come to the cursor again
     * @param settled claims after those
     */
    @ParameterizedTest
    @CsvSource({"0, 0", "3, 0", "3, 1"})
    void aRedisThatWentBackInPlaceIsNoticedByItsOwner(int accepted, int settled) {
        // Given three who have won since the backup, and three before it
        SimulatedServer owner = begin(1);
        IntStream.range(0, 3).forEach(slot -> settle(owner, slot));
        pass(200); // the journal is trimmed
        SimulatedRedis.Snapshot backup = redis.some().snapshot();
        IntStream.range(3, 6).forEach(slot -> settle(owner, slot));
        pass(200);
        PostgresTables.Shard shard = tables.shards.get(0);
        long epoch = shard.epoch;

        // When
        redis.some().swap(backup.data());
        IntStream.range(3, 3 + accepted).forEach(slot -> accept(shard, slot));
        IntStream.range(6, 6 + settled).forEach(slot -> settle(owner, slot));

        // Then
        await(3, () -> shard.epoch > epoch);
        Future<ClaimOutcome> winner = owner.claim("user-3", true, packets.get(0), again -> {});
        await(3, winner::isComplete);
        assertThat(winner.result().kind()).isEqualTo(Kind.ALREADY_CLAIMED);
        assertThat(winner.result().wonClaim().slot()).isEqualTo(3);
        settle(owner, 6 + settled);
    }

    /** As the script does it. */
    private void accept(PostgresTables.Shard shard, int slot) {
        String user = "late-" + slot;
        String item = packets.get(0) + " " + slot + " " + user;
        RedisModel model = redis.model(shard.id);
        model.call(List.of("HSET", shard.stamp() + ":p:" + packets.get(0), user, "" + slot, "#", "" + (slot + 1)));
        model.call(List.of(
                "XADD",
                shard.stamp() + ":journal",
                shard.epoch + "-*",
                "sum",
                Script.sha1("claim " + item),
                "claim",
                item));
    }

    @Test
    void aDrawWhoseOwnersWalletWasHeldAtItsEndEndsLater() {
        // Given
        SimulatedServer owner = begin(1);
        UUID draw = new UUID(7, 7);
        Instant now = tables.now();
        JsonObject definition = new JsonObject("{\"mode\": \"table\", \"prizes\": [{\"name\": \"P\", \"count\": 1}]}")
                .put("name", "draw")
                .put("opensAt", now.toString())
                .put("closesAt", now.plusSeconds(2).toString());
        tables.draws.add(draw, 0, DrawDefinition.read(definition.getMap()), new Seed(new byte[Seed.BYTES]));
        tables.draws.held.add(draw);
        owner.play("bob", draw, "key", 1);
        pass(1_500);
        long last = tables.shards.get(0).lastSeq;

        // When its end is settled
        await(3, () -> tables.shards.get(0).lastSeq > last);
        assertThat(tables.draws.draws.get(draw).closedAt).isNull();
        tables.draws.held.clear();

        // Then
        await(6, () -> tables.draws.draws.get(draw).closedAt != null);
    }
}
