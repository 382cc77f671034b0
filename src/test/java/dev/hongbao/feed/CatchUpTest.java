package dev.hongbao.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.Generation;
import dev.hongbao.feed.FeedOwnerTask.CatchUp.OpenPacket;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.PacketId;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CatchUpTest {
    private static final int PAGE = 4;

    private final List<OpenPacket> open = new ArrayList<>();
    private final List<OpenPacket> found = new ArrayList<>();
    private final FeedOwnerTask.CatchUp catchUp = new FeedOwnerTask.CatchUp(this::next, PAGE, found::add);
    private int reads;
    private boolean away;
    private long epoch = 1;

    private Future<List<OpenPacket>> next(Map<Integer, UUID> places, int limit) {
        reads++;
        if (away) {
            return Future.failedFuture(new IllegalStateException("away"));
        }
        List<OpenPacket> page = new ArrayList<>();
        places.forEach((shard, place) -> open.stream()
                .filter(packet ->
                        packet.shard() == shard && packet.packet().value().compareTo(place) > 0)
                .limit(limit)
                .forEach(page::add));
        return Future.succeededFuture(page);
    }

    private OpenPacket given(int shard, int number, boolean isBehind) {
        PacketId id = new PacketId(new UUID(0x7000, number));
        OpenPacket packet = new OpenPacket(shard, id, new GroupId("family"), isBehind);
        open.add(packet);
        return packet;
    }

    private void rounds(int rounds, Integer... live) {
        for (int i = 0; i < rounds; i++) {
            var unused = round(live);
        }
    }

    private Future<Void> round(Integer... live) {
        return catchUp.round(Stream.of(live)
                .map(shard -> new Generation("test", shard, epoch, "nonce"))
                .toList());
    }

    @Test
    void aPassTellsEachPacketOnceThoughItStaysBehindAndEveryPageIsFull() {
        // Given more packets than a page, of one group, whose events are trimmed as soon as they are told
        for (int number = 1; number <= 3 * PAGE; number++) {
            given(0, number, true);
        }

        // When
        rounds(50, 0);

        // Then
        assertThat(found).containsExactlyElementsOf(open);
        assertThat(reads).isEqualTo(4);
    }

    @Test
    void aRoundLooksAtOnePageOfAllShards() {
        // Given
        OpenPacket first = given(0, 1, true);
        OpenPacket second = given(0, 2, true);
        OpenPacket third = given(0, 3, true);
        given(1, 4, false);
        OpenPacket other = given(1, 5, true);

        // When
        rounds(1, 0, 1);

        // Then
        assertThat(found).containsExactlyInAnyOrder(first, second, other);

        // When
        rounds(1, 0, 1);

        // Then
        assertThat(found).containsExactlyInAnyOrder(first, second, other, third);
    }

    @Test
    void aPageThatCannotBeReadIsReadAgain() {
        // Given
        for (int number = 1; number <= PAGE + 1; number++) {
            given(0, number, true);
        }
        rounds(1, 0);

        // When
        away = true;
        Future<Void> failed = round(0);
        away = false;
        rounds(5, 0);

        // Then
        assertThat(failed.failed()).isTrue();
        assertThat(found).containsExactlyElementsOf(open);
    }

    @Test
    void aFaultWithinAPassBeginsAnotherOneAtItsEnd() {
        // Given
        for (int number = 1; number <= 2 * PAGE; number++) {
            given(0, number, true);
        }

        // When settlements fail again and again
        for (int round = 1; round <= 6; round++) {
            catchUp.suspect();
            rounds(1, 0);
        }

        // Then each pass comes to its end: a full page, another one, and the one that is empty
        assertThat(found).hasSize(4 * PAGE).startsWith(open.toArray(OpenPacket[]::new));

        // When they are well again
        rounds(20, 0);

        // Then
        assertThat(found).hasSize(6 * PAGE);
    }

    @Test
    void aShardThatComesBackIsGoneThroughAgain() {
        // Given
        OpenPacket packet = given(0, 1, true);
        rounds(3, 0);

        // When another server had it
        rounds(1);
        rounds(3, 0);

        // Then
        assertThat(found).containsExactly(packet, packet);
    }

    @Test
    void aShardOfANewGenerationIsGoneThroughAgain() {
        // Given
        OpenPacket packet = given(0, 1, true);
        rounds(3, 0);

        // When it was recovered between two rounds, perhaps since an operator replayed what was set aside
        epoch++;
        rounds(3, 0);

        // Then
        assertThat(found).containsExactly(packet, packet);
    }
}
