package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.ServerMessages.Peers;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Who is told what. */
class PeersTest {
    private static final int SHARD = 3;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final Peers peers = new Peers();

    private static final long EPOCH = 7;

    private static Stretch places(int shard, long first, long last) {
        return new Stretch(shard, EPOCH, first, last);
    }

    private static CursorMoves.Move move(int shard, long epoch, long from, long to) {
        return new CursorMoves.Move(new Generation("a", shard, epoch, "nonce"), from, to);
    }

    /** Who is told that entries are settled: those after {@code from}, up to {@code to}. */
    private List<String> concerned(int shard, long from, long to, long nowNanos) {
        return peers.concerned(List.of(move(shard, EPOCH, from, to)), nowNanos);
    }

    @Test
    void whoWroteSomeOfWhatIsSettledIsToldAndNobodyElse() {
        peers.wrote("b", places(SHARD, 11, 11), 0);
        peers.wrote("c", places(SHARD, 14, 15), 0);
        peers.wrote("d", places(SHARD + 1, 11, 11), 0);

        assertThat(concerned(SHARD, 9, 10, SECOND)).isEmpty();
        assertThat(concerned(SHARD, 10, 14, SECOND)).containsExactlyInAnyOrder("b", "c");
        assertThat(concerned(SHARD, 14, 20, SECOND)).containsExactly("c");
        assertThat(concerned(SHARD, 20, 30, SECOND)).isEmpty();
        assertThat(concerned(SHARD + 1, 10, 11, SECOND)).containsExactly("d");
        assertThat(peers.listening()).isEmpty();
    }

    @Test
    void whoWritesOnWaitsForAllOfIt() {
        peers.wrote("b", places(SHARD, 11, 11), 0);
        peers.wrote("b", places(SHARD, 20, 20), 0);
        peers.wrote("b", places(SHARD, 5, 5), 0); // its word was late

        assertThat(concerned(SHARD, 4, 5, SECOND)).containsExactly("b");
        assertThat(concerned(SHARD, 10, 11, SECOND)).containsExactly("b");
        assertThat(concerned(SHARD, 19, 25, SECOND)).containsExactly("b");
        assertThat(concerned(SHARD, 25, 26, SECOND)).isEmpty();
    }

    @Test
    void whatOneWasToldOfIsWaitedForNoMore() {
        // Given one who was told of all that it wrote
        peers.wrote("b", places(SHARD, 11, 20), 0);
        assertThat(concerned(SHARD, 10, 20, 0)).containsExactly("b");

        // When it writes later
        peers.wrote("b", places(SHARD, 40, 40), SECOND);

        // Then it does not wait for what others wrote between
        assertThat(concerned(SHARD, 20, 39, SECOND)).isEmpty();
        assertThat(concerned(SHARD, 39, 40, SECOND)).containsExactly("b");
    }

    @Test
    void thePlacesOfAnotherGenerationAreOtherPlaces() {
        peers.wrote("b", places(SHARD, 100, 100), 0);
        assertThat(peers.concerned(List.of(move(SHARD, EPOCH + 1, 99, 100)), SECOND))
                .isEmpty();

        peers.wrote("b", new Stretch(SHARD, EPOCH + 1, 1, 1), SECOND);

        assertThat(peers.concerned(List.of(move(SHARD, EPOCH + 1, 0, 1)), SECOND))
                .containsExactly("b");
        assertThat(concerned(SHARD, 99, 100, SECOND)).isEmpty();
    }

    @Test
    void whoHasNotWrittenForLongerThanAnybodyWaitsIsToldNoMore() {
        peers.wrote("b", places(SHARD, 1, 1), 0);

        assertThat(concerned(SHARD, 0, 1, 2 * SECOND)).isEmpty();
    }

    @Test
    void whereSomebodyListensAllIsTold() {
        peers.says("b", List.of(SHARD), true, 0);
        peers.says("c", List.of(), false, 0);

        assertThat(concerned(SHARD, 0, 1, 0)).containsExactly("b");
        assertThat(peers.listening()).containsExactly("b");

        peers.says("b", List.of(), false, 0);
        assertThat(concerned(SHARD, 0, 1, 0)).isEmpty();
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
        assertThat(peers.owner(SHARD + 2)).isEmpty();
    }

    @Test
    void aSilentServerIsForgotten() {
        peers.says("b", List.of(SHARD), true, 0);
        peers.says("c", List.of(), true, 3 * SECOND);

        peers.forgetSilent(6 * SECOND);

        assertThat(peers.listening()).containsExactly("c");
        assertThat(peers.owner(SHARD)).isEmpty();

        // When the other one stops
        assertThat(peers.isEmpty()).isFalse();
        peers.left("c");

        // Then
        assertThat(peers.isEmpty()).isTrue();
    }
}
