package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.Ownership.ShardQuota;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShardQuotaTest {
    private static final int ME = 1;
    private static final int OTHER = 2;

    private final AtomicLong now = new AtomicLong(-5);

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    private ShardQuota shares(int shards) {
        return new ShardQuota(shards, now::get);
    }

    @Test
    void aServerTakesAnEqualPartRoundedUp() {
        ShardQuota shares = shares(16);
        assertThat(shares.room(0)).isEqualTo(16);
        shares.seen(Map.of(ME, 0, OTHER, 16, 3, 0));
        assertThat(shares.room(0)).isEqualTo(6);
        assertThat(shares.room(6)).isZero();
        assertThat(shares.room(16)).isZero();
    }

    @Test
    void shardsMoveOnlyToAServerThatHasBeenThereForAWhile() {
        ShardQuota shares = shares(16);
        shares.seen(Map.of(ME, 16));

        // When
        shares.seen(Map.of(ME, 16, OTHER, 0));

        // Then
        assertThat(shares.isTooMany(ME)).isFalse();
        pass(ShardQuota.SETTLING_IN);
        assertThat(shares.isTooMany(ME)).isTrue();
        assertThat(shares.isTooMany(OTHER)).isFalse();
    }

    @Test
    void aServerThatRestartsInALoopIsTrustedLaterAndLater() {
        // Given a server that stays for six seconds, again and again
        ShardQuota shares = shares(16);
        shares.seen(Map.of(ME, 16));
        int moved = 0;
        for (int visit = 0; visit < 200; visit++) {
            for (int beat = 0; beat < 30; beat++) {
                shares.seen(Map.of(ME, 16, 100 + visit, 0));
                moved += shares.isTooMany(ME) ? 1 : 0;
                pass(Duration.ofMillis(200));
            }
            shares.seen(Map.of(ME, 16));
            pass(Duration.ofMillis(200));
        }

        // Then shards move with its first visits only
        assertThat(moved).isBetween(1, 60);

        // When it stays at last
        shares.seen(Map.of(ME, 16, OTHER, 0));
        pass(ShardQuota.MOST);
        shares.seen(Map.of(ME, 16, OTHER, 0));

        // Then it gets its part
        assertThat(shares.isTooMany(ME)).isTrue();
    }

    @Test
    void whatCameAndWentIsForgottenWithTime() {
        ShardQuota shares = shares(16);
        shares.seen(Map.of(ME, 16, OTHER, 0));
        pass(Duration.ofSeconds(1));
        shares.seen(Map.of(ME, 16));
        pass(ShardQuota.VISIT);

        // When
        shares.seen(Map.of(ME, 16, 3, 0));
        pass(ShardQuota.SETTLING_IN);

        // Then
        assertThat(shares.isTooMany(ME)).isTrue();
    }

    /** As servers do it: each in turn gives one up, and whoever has room takes it. */
    @ParameterizedTest
    @CsvSource({"16, 2", "16, 3", "4, 3", "5, 3", "16, 7", "1, 3", "3, 8", "256, 10"})
    void itEndsWithPartsThatDifferByOneAtTheMost(int shards, int servers) {
        Map<Integer, Integer> owned = new HashMap<>();
        for (int server = 0; server < servers; server++) {
            owned.put(server, server == 0 ? shards : 0);
        }
        Map<Integer, ShardQuota> each = new HashMap<>();
        owned.keySet().forEach(server -> each.put(server, shares(shards)));
        each.values().forEach(shares -> shares.seen(owned));
        pass(ShardQuota.SETTLING_IN);

        int moves = 0;
        boolean moved = true;
        while (moved) {
            moved = false;
            for (int giver : new ArrayList<>(owned.keySet())) {
                each.values().forEach(shares -> shares.seen(owned));
                if (each.get(giver).isTooMany(giver)) {
                    owned.merge(giver, -1, Integer::sum);
                    List<Integer> takers = owned.keySet().stream()
                            .filter(server ->
                                    server != giver && each.get(server).room(owned.get(server)) > 0)
                            .toList();
                    owned.merge(takers.get(moves % takers.size()), 1, Integer::sum);
                    moves++;
                    moved = true;
                }
            }
        }

        assertThat(moves).isLessThanOrEqualTo(2 * shards);
        int least = owned.values().stream().mapToInt(count -> count).min().orElseThrow();
        assertThat(owned.values()).allMatch(count -> count <= least + 1);
    }
}
