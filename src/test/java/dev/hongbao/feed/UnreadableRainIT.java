package dev.hongbao.feed;

import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.Profiles;
import dev.hongbao.campaign.Campaigns;
import dev.hongbao.campaign.Rain;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.CampaignId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A server whose version is older than a rain. */
@ExtendWith(Servers.class)
class UnreadableRainIT {
    private static EventRow row(long place, String type, UUID subject) {
        return new EventRow(GROUP, place, type, subject, 0, 0, List.of(), Instant.EPOCH);
    }

    @Test
    void itHidesNoOtherEvent(TestServers servers) {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "1"))) {
            // Given
            engine.deposit("alice", 10);
            Packet packet = engine.send("alice", 10, 1);
            TestRains rains = new TestRains(engine);
            CampaignId rain = rains.create(rains.host("host", 10), TestRains.definition(1, 1, 1, 1))
                    .rain()
                    .id();
            new Books(servers)
                    .execute("update campaign set definition = definition || '{\"split\": \"nonsense\"}' where id = '"
                            + rain + "'");

            // When
            Pool pool = engine.engine().pool();
            Campaigns campaigns = new Campaigns(
                    pool,
                    pool,
                    engine.shards(1),
                    new Quarantine(Loop.of(engine.vertx()), pool, engine.metrics()),
                    Clock.systemUTC());
            Future<List<FeedPage.Event>> told = engine.loop(0)
                    .call(services -> new EventText(
                                    services.packets, engine.engine().draws, campaigns, new Profiles(pool))
                            .render(List.of(
                                    row(1, EventRow.ANNOUNCED, rain.value()),
                                    row(2, EventRow.SENT, packet.id().value()))));

            // Then
            assertThat(get(told)).hasSize(1);
            assertThat(get(told).get(0).json()).contains(EventRow.SENT);
            // and the group's rains are listed without it
            List<Rain.View> current =
                    get(engine.loop(0).call(services -> services.rains.current(TestEngine.member("bob"), GROUP)));
            assertThat(current).isEmpty();
        }
    }
}
