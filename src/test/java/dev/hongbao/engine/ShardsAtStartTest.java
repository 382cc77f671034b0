package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.Shards.ShardsAtStart;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ShardsAtStartTest {
    private final AtomicLong nanos = new AtomicLong();
    private final ShardsAtStart shards = new ShardsAtStart(nanos::get);

    private void patienceEnds() {
        nanos.addAndGet(ShardsAtStart.PATIENCE.toNanos() + 1);
    }

    @Test
    void eachOwnedShardIsWaitedForOnce() {
        shards.acquired(List.of(0, 1));
        shards.live(0);
        assertThat(shards.isDone()).isFalse();
        shards.live(1);
        assertThat(shards.isDone()).isTrue();

        // one that is acquired or fails later changes nothing
        shards.acquired(List.of(2));
        shards.failed(2, "broken");
        assertThat(shards.isDone()).isTrue();
    }

    @Test
    void aShardThatKeepsFailingDoesNotKeepTheOthersFromServing() {
        shards.acquired(List.of(0, 1));
        shards.live(0);
        shards.failed(1, "broken");
        assertThat(shards.isDone()).isFalse();
        patienceEnds();
        shards.failed(1, "broken");
        assertThat(shards.isDone()).isTrue();
    }

    @Test
    void aShardThatIsOnlySlowIsWaitedFor() {
        shards.acquired(List.of(0, 1));
        shards.live(0);
        patienceEnds();
        assertThat(shards.isDone()).isFalse();
    }

    @Test
    void aServerNoneOfWhoseShardsWorksIsNotReady() {
        shards.acquired(List.of(0, 1));
        shards.failed(0, "broken");
        shards.failed(1, "broken");
        patienceEnds();
        assertThat(shards.isDone()).isFalse();
    }

    @Test
    void aRecoveryIsPartOfTheStartUntilTheStartIsDone() {
        // Given a shard that begins, and one that Redis had lost
        shards.acquired(List.of(0, 1));

        // Then the start counts what was lost, and says it itself
        assertThat(shards.recovered(new Generation("test", 0, 1, "nonce"))).isTrue();
        assertThat(shards.recovered(new Generation("test", 1, 2, "nonce"))).isTrue();
        assertThat(shards.recovered()).isOne();

        // When it is done
        shards.live(0);
        shards.live(1);
        assertThat(shards.isDone()).isTrue();

        // Then a recovery is an event of its own
        assertThat(shards.recovered(new Generation("test", 1, 3, "nonce"))).isFalse();
        assertThat(shards.recovered()).isOne();
    }

    @Test
    void aServerThatOwnsNothingWaitsForNothing() {
        assertThat(shards.isDone()).isTrue();
    }

    @Test
    void aShardThatWentToAnotherServerIsWaitedForNoLonger() {
        shards.acquired(List.of(0));
        shards.lost();
        assertThat(shards.isDone()).isTrue();
    }
}
