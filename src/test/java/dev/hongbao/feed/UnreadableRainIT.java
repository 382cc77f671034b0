package dev.hongbao.feed;

import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.access.Profiles;
import dev.hongbao.campaign.Campaigns;
import dev.hongbao.campaign.Rain;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketService.Period;
import dev.hongbao.server.Services;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.Page;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiFunction;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** A server whose version is older than a row. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UnreadableRainIT {
    private TestEngine engine;
    private Books books;

    @BeforeAll
    void start(TestServers servers) {
        engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
        books = new Books(servers);
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private static EventRow row(long place, String type, UUID subject) {
        return new EventRow(GROUP, place, type, subject, 0, 0, List.of(), Instant.EPOCH);
    }

    @Test
    void itHidesNoOtherEvent() {
        // Given
        engine.deposit("alice", 10);
        Packet packet = engine.send("alice", 10, 1);
        TestRains rains = new TestRains(engine);
        CampaignId rain = rains.create(rains.host("host", 10), TestRains.definition(1, 1, 1, 1))
                .rain()
                .id();
        books.execute(
                "update campaign set definition = definition || '{\"split\": \"nonsense\"}' where id = '" + rain + "'");

        // When
        Pool pool = engine.engine().pool();
        Campaigns campaigns = new Campaigns(
                pool,
                pool,
                engine.shards(1),
                new Quarantine(Loop.of(engine.vertx()), pool, engine.metrics()),
                Clock.systemUTC());
        Future<List<FeedPage.Event>> told = engine.loop(0)
                .call(services -> new EventText(services.packets, engine.engine().draws, campaigns, new Profiles(pool))
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

    /** A page of one item then is empty, and names the next page. */
    @Test
    void itEndsNoList() {
        // Given two of each, the newer one unreadable
        TestRains rains = new TestRains(engine);
        TestCampaigns campaigns = new TestCampaigns(engine);
        Caller host = rains.host("lister", 20);
        JsonObject later = TestRains.definition(1, 1, 1, 1)
                .put("groups", new JsonArray().add("readers"))
                .put("startsAt", Instant.now().plusSeconds(3600).toString());
        CampaignId rain = rains.create(host, later).rain().id();
        CampaignId badRain = rains.create(host, later).rain().id();
        engine.deposit(TestDraws.SERVICE.user().value(), 100);
        CampaignId campaign =
                campaigns.create(TestCampaigns.definition(50, 5)).campaign().id();
        CampaignId badCampaign =
                campaigns.create(TestCampaigns.definition(50, 5)).campaign().id();
        engine.deposit("lister-too", 20);
        Packet packet = engine.send("lister-too", 10, 1);
        Packet badPacket = engine.send("lister-too", 10, 1);
        books.execute("update campaign set definition = '{}' where id in ('" + badRain + "', '" + badCampaign + "')");
        books.execute("update packet set group_id = '..' where id = '" + badPacket.id() + "'");

        // When, Then
        assertThat(all((services, cursor) -> services.rains.list(host, host.user(), null, cursor, 1)))
                .extracting(view -> view.rain().id())
                .containsExactly(rain);
        assertSetAside(() -> rains.view(host, badRain));
        assertThat(all((services, cursor) -> services.campaigns.list(host, null, null, cursor, 1)))
                .extracting(view -> view.campaign().id())
                .containsExactly(campaign);
        assertSetAside(() -> campaigns.view(badCampaign));
        assertThat(all((services, cursor) ->
                        services.packets.ownOf(new UserId("lister-too"), Period.ALL, null, null, cursor, 1)))
                .extracting(view -> view.packet().id())
                .containsExactly(packet.id());
    }

    private static void assertSetAside(ThrowingCallable view) {
        assertThatThrownBy(view)
                .isInstanceOfSatisfying(
                        UnavailableException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(UnavailableException.Reason.SET_ASIDE));
    }

    private <T> List<T> all(BiFunction<Services, String, Future<Page<T>>> list) {
        List<T> all = new ArrayList<>();
        String cursor = null;
        do {
            String from = cursor;
            Page<T> page = get(engine.loop(0).call(services -> list.apply(services, from)));
            all.addAll(page.items());
            cursor = page.next();
        } while (cursor != null);
        return all;
    }
}
