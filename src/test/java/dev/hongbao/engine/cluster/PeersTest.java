package dev.hongbao.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.cluster.Peers.Entry;
import dev.hongbao.engine.journal.CursorMoves.Move;
import dev.hongbao.engine.shard.Generation;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Who is told what. */
class PeersTest {
    private static final int SHARD = 3;
    private static final long EPOCH = 7;

    private final Peers peers = new Peers();

    private static List<Move> moved(long from, long to) {
        return List.of(new Move(new Generation("a", SHARD, EPOCH, "nonce"), from, to));
    }

    @Test
    void aServerIsToldOfTheEntryThatItWrote() {
        peers.wrote("b", new Entry(SHARD, EPOCH, 5), 0);

        assertThat(peers.concerned(moved(4, 5))).containsExactly("b");
        assertThat(peers.concerned(moved(2, 9))).containsExactly("b");
    }

    @Test
    void anEntryBeforeItMayBeItsOwnToo() {
        // Given that only the last of several entries is remembered
        peers.wrote("b", new Entry(SHARD, EPOCH, 5), 0);
        peers.wrote("b", new Entry(SHARD, EPOCH, 3), 0);

        assertThat(peers.concerned(moved(2, 3))).containsExactly("b");
    }

    @Test
    void onceItIsSettledTheServerWaitsNoMore() {
        peers.wrote("b", new Entry(SHARD, EPOCH, 5), 0);

        assertThat(peers.concerned(moved(5, 6))).isEmpty();
        assertThat(peers.listening()).isEmpty();
    }

    @Test
    void anEntryOfAnotherGenerationOrShardIsAnotherEntry() {
        peers.wrote("b", new Entry(SHARD, EPOCH - 1, 5), 0);
        peers.wrote("c", new Entry(SHARD + 1, EPOCH, 5), 0);

        assertThat(peers.concerned(moved(0, 5))).isEmpty();

        peers.wrote("b", new Entry(SHARD, EPOCH, 1), 0);
        assertThat(peers.concerned(moved(0, 5))).containsExactly("b");
    }

    @Test
    void whereSomebodyListensAllIsTold() {
        peers.says("b", List.of(SHARD), true, 0);
        peers.says("c", List.of(), false, 0);

        assertThat(peers.concerned(moved(0, 5))).containsExactly("b");
        assertThat(peers.listening()).containsExactly("b");
        assertThat(peers.owner(SHARD)).isEqualTo("b");

        peers.says("b", List.of(), false, 0);
        assertThat(peers.concerned(moved(0, 5))).isEmpty();
        assertThat(peers.owner(SHARD)).isNull();
    }

    @Test
    void aSilentServerIsForgotten() {
        peers.says("b", List.of(SHARD), true, 0);
        peers.says("c", List.of(), true, TimeUnit.SECONDS.toNanos(3));

        peers.forgetSilent(TimeUnit.SECONDS.toNanos(6));

        assertThat(peers.listening()).containsExactly("c");
        assertThat(peers.owner(SHARD)).isNull();
    }

    @Test
    void namesThatNoServerHasTakeNoMemoryWithoutEnd() {
        for (int i = 0; i < 3_000; i++) {
            peers.says("name-" + i, List.of(), true, 0);
        }

        assertThat(peers.listening()).hasSize(1_000);
    }
}
