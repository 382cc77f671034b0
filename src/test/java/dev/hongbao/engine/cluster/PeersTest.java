package dev.hongbao.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.shard.Generation;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Who is told what. */
class PeersTest {
    private static final int SHARD = 3;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final Peers peers = new Peers();

    private List<String> concerned(int shard, long nowNanos) {
        return peers.concerned(List.of(new Generation("a", shard, 7, "nonce")), nowNanos);
    }

    @Test
    void whoWritesIntoAShardIsToldWhatIsSettledThereAndWhoDoesNotIsNot() {
        peers.wrote("b", SHARD, 0);
        peers.wrote("c", SHARD + 1, 0);

        assertThat(concerned(SHARD, SECOND)).containsExactly("b");
        assertThat(concerned(SHARD + 1, SECOND)).containsExactly("c");
        assertThat(concerned(SHARD + 2, SECOND)).isEmpty();
        assertThat(peers.listening()).isEmpty();
    }

    @Test
    void whoHasNotWrittenForLongerThanAnybodyWaitsIsToldNoMore() {
        peers.wrote("b", SHARD, 0);

        assertThat(concerned(SHARD, 2 * SECOND)).isEmpty();
    }

    @Test
    void whereSomebodyListensAllIsTold() {
        peers.says("b", List.of(SHARD), true, 0);
        peers.says("c", List.of(), false, 0);

        assertThat(concerned(SHARD, 0)).containsExactly("b");
        assertThat(peers.listening()).containsExactly("b");

        peers.says("b", List.of(), false, 0);
        assertThat(concerned(SHARD, 0)).isEmpty();
        assertThat(peers.listening()).isEmpty();
    }

    @Test
    void theLastWordSaysWhoOwnsAShard() {
        // Given an owner that has died without a word
        peers.says("b", List.of(SHARD, SHARD + 1), false, 0);
        assertThat(peers.owner(SHARD)).isEqualTo("b");

        // When
        peers.says("c", List.of(SHARD), false, 1);

        // Then
        assertThat(peers.owner(SHARD)).isEqualTo("c");
        assertThat(peers.owner(SHARD + 1)).isEqualTo("b");
        assertThat(peers.owner(SHARD + 2)).isNull();
    }

    @Test
    void aSilentServerIsForgotten() {
        peers.says("b", List.of(SHARD), true, 0);
        peers.says("c", List.of(), true, 3 * SECOND);

        peers.forgetSilent(6 * SECOND);

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
