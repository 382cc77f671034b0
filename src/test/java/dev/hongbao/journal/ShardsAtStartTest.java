package dev.hongbao.journal;

import static org.assertj.core.api.Assertions.assertThat;

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
    void each_owned_shard_is_waited_for_once() {
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
    void a_shard_that_keeps_failing_does_not_keep_the_others_from_serving() {
        shards.acquired(List.of(0, 1));
        shards.live(0);
        shards.failed(1, "broken");
        assertThat(shards.isDone()).isFalse();
        patienceEnds();
        shards.failed(1, "broken");
        assertThat(shards.isDone()).isTrue();
    }

    @Test
    void a_shard_that_is_only_slow_is_waited_for() {
        shards.acquired(List.of(0, 1));
        shards.live(0);
        patienceEnds();
        assertThat(shards.isDone()).isFalse();
    }

    @Test
    void a_server_none_of_whose_shards_works_is_not_ready() {
        shards.acquired(List.of(0, 1));
        shards.failed(0, "broken");
        shards.failed(1, "broken");
        patienceEnds();
        assertThat(shards.isDone()).isFalse();
    }

    @Test
    void a_server_that_owns_nothing_waits_for_nothing() {
        assertThat(shards.isDone()).isTrue();
    }

    @Test
    void a_shard_that_went_to_another_server_is_waited_for_no_longer() {
        shards.acquired(List.of(0));
        shards.lost();
        assertThat(shards.isDone()).isTrue();
    }
}
