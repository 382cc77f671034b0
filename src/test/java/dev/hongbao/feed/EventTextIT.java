package dev.hongbao.feed;

import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.Profiles;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.packet.CountingPool;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketService;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** What it costs to tell how packets ended. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EventTextIT {
    private static final int EACH = 5;

    private final List<Packet> sent = new ArrayList<>();
    private TestEngine engine;

    @BeforeAll
    void refundedAndDrainedPackets(TestServers given) {
        engine = TestEngine.start(given, 1, Map.of());
        engine.deposit("alice", 1_000_000);
        Books books = new Books(given);
        for (int i = 0; i < 2 * EACH; i++) {
            Packet packet = engine.send("alice", 1000, 3);
            sent.add(packet);
            engine.claim(packet, "bob").wonClaim();
            if (i < EACH) {
                books.expire(packet);
            } else {
                engine.claim(packet, "alice").wonClaim();
                engine.claim(packet, "carol").wonClaim();
            }
            books.awaitClosed(packet);
        }
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    @Test
    void howAPageOfPacketsEndedIsAskedOnceAndNoWinnersAreKept() {
        // Given events of five that went back and of five that were drained
        CountingPool counted = new CountingPool(engine.engine().pool());
        PacketService packets = counted.service();
        EventText text =
                new EventText(packets, engine.engine().draws, engine.engine().campaigns, new Profiles(counted.pool()));
        List<EventRow> rows = IntStream.range(0, 2 * EACH)
                .mapToObj(i -> new EventRow(
                        GROUP,
                        i + 1,
                        i < EACH ? EventRow.REFUNDED : EventRow.DRAINED,
                        sent.get(i).id().value(),
                        0,
                        0,
                        List.of(),
                        Instant.EPOCH))
                .toList();
        counted.take();

        // When
        List<FeedPage.Event> events = get(text.render(rows));

        // Then their terms are asked for, their ends, and who is named
        assertThat(counted.take()).as("queries").isLessThanOrEqualTo(3);
        assertThat(events).hasSize(2 * EACH);
        for (int i = 0; i < 2 * EACH; i++) {
            Packet packet = sent.get(i);
            JsonObject data = new JsonObject(events.get(i).json()).getJsonObject("data");
            JsonObject claimed = data.getJsonObject("claimed");
            assertThat(packets.isKnownOver(packet.id())).isFalse();
            if (i < EACH) {
                assertThat(claimed.getInteger("count")).isEqualTo(1);
                assertThat(claimed.getLong("amount")).isEqualTo(packet.amountOf(0));
                assertThat(data.getLong("amount")).isEqualTo(1000 - packet.amountOf(0));
                assertThat(data.getString("status")).isEqualTo("refunded");
            } else {
                assertThat(claimed.getInteger("count")).isEqualTo(3);
                assertThat(claimed.getLong("amount")).isEqualTo(1000);
                assertThat(data.getJsonObject("luckiest").getLong("amount"))
                        .isEqualTo(LongStream.range(0, 3)
                                .map(slot -> packet.amountOf((int) slot))
                                .max()
                                .orElseThrow());
            }
        }
    }
}
