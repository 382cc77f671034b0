package dev.hongbao.campaign;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.Eventually.eventuallyGet;
import static dev.hongbao.testing.TestCampaigns.assertRefused;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestRains.definition;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.odds.Seed;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.PacketView;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import dev.hongbao.testing.TestServers;
import dev.hongbao.testing.TestTime;
import dev.hongbao.testing.TwoEngines;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** A rain from its making to its end: its moments, who may catch, how often, where its money goes, and what breaks in the middle. */
class RainIT extends TwoEngines {
    private static final Duration IN_TIME = Duration.ofSeconds(15);
    private static final Caller STRANGER =
            new Caller(new UserId("eve"), Set.of(new GroupId("strangers")), Role.USER, Instant.MAX);

    private TestTime time;
    private TestRains rains;

    @Override
    @BeforeAll
    protected void startBoth(TestServers given) {
        time = new TestTime(given);
        super.startBoth(given);
        rains = new TestRains(engine);
    }

    @AfterAll
    void stopTime() {
        time.close();
    }

    @Override
    protected void assertBooks() {
        books.assertJournalsEmpty();
        super.assertBooks();
    }

    /** A minute for its drops, beginning soon. */
    private JsonObject aMinute(int drops, int shares, int catches) {
        return definition(60, drops, shares, catches)
                .put("startsAt", time.now().plusSeconds(10).toString());
    }

    private void awaitMoment(Instant moment) {
        Duration left = Duration.between(time.now(), moment);
        if (!left.isNegative()) {
            time.move(left, engine, other);
        }
    }

    /** Until some of its drops have fallen, and others have not. */
    private Rain.View awaitMiddle(Rain.View rain) {
        awaitMoment(rain.rain().definition().fall().startsAt().plusSeconds(40));
        return rains.awaitFallen(rain, 3);
    }

    private ClaimOutcome claim(Caller caller, PacketId drop) {
        return get(engine.claim(0, caller, drop));
    }

    private List<PacketView> seen(Caller caller, Rain.View rain) {
        return get(engine.loop(0)
                        .call(services -> services.feed
                                .poll(caller, rain.rain().channel(), null, Duration.ZERO)
                                .page()))
                .packets();
    }

    private List<PacketId> drops(Rain.View rain) {
        return books
                .strings("select packet from pool where campaign = '"
                        + rain.rain().id() + "' order by substr(product, 6)::integer")
                .stream()
                .map(id -> PacketId.parse(id))
                .toList();
    }

    private static List<PacketId> fallen(Rain.View rain) {
        return rain.fallen().stream().map(Rain.View.Drop::packet).toList();
    }

    @Test
    void itsDropsFallAtTheMomentsThatItCommittedTo() {
        // Given
        Caller host = rains.host("moments", 1500);

        // When
        Rain.View made = rains.create(host, aMinute(7, 3, 2).put("budget", 1000).put("split", "double-mean"));

        // Then all money is in the drops at once, evenly, and nobody is told of one
        String id = made.rain().id().toString();
        assertThat(made.status()).isEqualTo(Rain.View.Status.PLANNED);
        assertThat(made.fallen()).isEmpty();
        assertThat(made.seed()).isNull();
        assertThat(engine.balance("moments")).isEqualTo(500);
        assertThat(books.strings("select amount || ' ' || group_id from packet as p join pool as o on o.packet = p.id"
                        + " where o.campaign = '" + id + "' order by substr(product, 6)::integer"))
                .startsWith("143 rain:" + id, "143 rain:" + id)
                .endsWith("143 rain:" + id, "142 rain:" + id)
                .hasSize(7);
        PacketId last = drops(made).get(6);
        assertThat(claim(TestEngine.member("bob"), last).kind()).isEqualTo(Kind.NOT_OPEN_YET);

        // When all have fallen, and two shares are caught
        Rain.Definition.Fall fall = made.rain().definition().fall();
        awaitMoment(fall.lastAt().plusMillis(100));
        Rain.View falling = rains.awaitFallen(made, 7);
        assertThat(claim(TestEngine.member("bob"), fallen(falling).get(0)).kind())
                .isEqualTo(Kind.CLAIMED);
        assertThat(claim(TestEngine.member("bob"), fallen(falling).get(1)).kind())
                .isEqualTo(Kind.CLAIMED);
        assertThat(claim(TestEngine.member("bob"), fallen(falling).get(2)).kind())
                .isEqualTo(Kind.LIMITED);
        assertThat(claim(TestEngine.member("bob"), fallen(falling).get(0)).kind())
                .isEqualTo(Kind.ALREADY_CLAIMED);
        awaitMoment(fall.endsAt());
        Rain.View ended = rains.awaitEnded(made);

        // Then the seed gives the commitment and all moments
        Seed seed = new Seed(HexFormat.of().parseHex(ended.seed()));
        assertThat(seed.commitment(made.rain().id().value(), fall.startsAt(), fall.lastAt(), fall.drops()))
                .isEqualTo(made.rain().commitment());
        assertThat(ended.fallen().stream().map(Rain.View.Drop::fellAt))
                .containsExactlyElementsOf(seed.moments(fall.startsAt(), fall.lastAt(), fall.drops()))
                .allSatisfy(moment -> assertThat(moment).isBetween(fall.startsAt(), fall.lastAt()));
        assertThat(fallen(ended)).containsExactlyElementsOf(drops(made));

        // Then what was not caught is back, to the cent
        List<Long> caught = rains.view(TestEngine.member("bob"), made.rain().id()).mine().stream()
                .map(claim -> claim.amount())
                .toList();
        assertThat(caught).hasSize(2);
        long sum = caught.stream().mapToLong(Long::longValue).sum();
        assertThat(ended.caught()).isEqualTo(new Rain.View.Caught(2, sum, 1000 - sum));
        assertThat(engine.balance("moments")).isEqualTo(1500 - sum);
    }

    @Test
    void itIsForItsGroupsOrForEverybody() {
        // Given
        JsonObject everybody = aMinute(12, 5, 1).put("everyone", true);
        everybody.remove("groups");
        Rain.View closed = rains.create(
                aMinute(12, 5, 1).put("groups", new JsonArray().add("others").add(GROUP.value())));
        Rain.View open = rains.create(everybody);
        Rain.View gold = rains.create(aMinute(12, 5, 1)
                .put("token", new JsonObject().put("name", "tier").put("values", new JsonArray().add("gold"))));
        Caller golden =
                new Caller(new UserId("midas"), Set.of(GROUP), Role.USER, Instant.MAX, Map.of("tier", "gold"), null);
        PacketId closedDrop = fallen(awaitMiddle(closed)).get(0);
        PacketId openDrop = fallen(awaitMiddle(open)).get(0);
        PacketId goldDrop = fallen(awaitMiddle(gold)).get(0);

        // Then a stranger sees and catches nothing of what is for groups
        assertThat(claim(STRANGER, closedDrop).kind()).isEqualTo(Kind.NOT_ELIGIBLE);
        assertThat(claim(TestEngine.member("ann"), closedDrop).kind()).isEqualTo(Kind.CLAIMED);
        assertRefused(
                Refusal.NOT_ELIGIBLE, () -> rains.view(STRANGER, closed.rain().id()));
        assertRefused(
                Refusal.NOT_ELIGIBLE,
                () -> get(engine.loop(0).call(services -> services.packets.view(STRANGER, closedDrop))));
        assertRefused(Refusal.NOT_ELIGIBLE, () -> seen(STRANGER, closed));

        // Then all of what is public
        assertThat(claim(STRANGER, openDrop).kind()).isEqualTo(Kind.CLAIMED);
        assertThat(rains.view(STRANGER, open.rain().id()).mine()).hasSize(1);
        eventually(IN_TIME, () -> assertThat(seen(STRANGER, open)).isNotEmpty());

        // Then what a token must say is asked for beside the group
        assertThat(claim(TestEngine.member("ann"), goldDrop).kind()).isEqualTo(Kind.NOT_ELIGIBLE);
        assertThat(claim(golden, goldDrop).kind()).isEqualTo(Kind.CLAIMED);
    }

    @Test
    void cancelledItReturnsWhatIsNotCaught() {
        // Given
        Caller host = rains.host("canceller", 10_000);
        Rain.View made = rains.create(host, aMinute(500, 2, 1));
        Rain.View falling = awaitMiddle(made);
        assertThat(claim(TestEngine.member("carl"), fallen(falling).get(0)).kind())
                .isEqualTo(Kind.CLAIMED);

        // When
        Rain.View cancelled = rains.cancel(made.rain().id());

        // Then nothing falls any more
        assertThat(cancelled.cancelledAt()).isEqualTo(cancelled.endsAt());
        Rain.View ended = rains.awaitEnded(made);
        assertThat(ended.fallen().size()).isBetween(1, 499);
        assertThat(announced(made)).isLessThanOrEqualTo(ended.fallen().size());
        assertThat(seen(TestEngine.member("dora"), made))
                .isNotEmpty()
                .extracting(view -> view.packet().id())
                .isSubsetOf(fallen(ended));
        assertThat(ended.caught()).isEqualTo(new Rain.View.Caught(1, 10, 9990));
        assertThat(engine.balance("canceller")).isEqualTo(9_990);
        PacketId never = drops(made).get(499);
        assertThat(claim(TestEngine.member("dora"), never).kind()).isIn(Kind.NOT_OPEN_YET, Kind.EXPIRED);

        // Then again is once
        assertThat(rains.cancel(made.rain().id()))
                .isEqualTo(rains.view(made.rain().id()));
        assertThat(engine.balance("canceller")).isEqualTo(9_990);
    }

    @Test
    void whatIsAnnouncedWhileItIsBeingCancelledHasFallen() throws SQLException {
        // Given a rain of many drops, of which somebody holds the last one
        Rain.View made = rains.create(rains.host("slow-canceller", 10_000), aMinute(500, 2, 1));
        awaitMiddle(made);
        // The start and the progress wait for the cancellation, too, and keep the owner from announcing.
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(books.longOf("select count(*) from rain where started and id = '"
                                + made.rain().id() + "'"))
                        .isEqualTo(1));
        try (Connection owner = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = owner.createStatement()) {
            statement.execute("update rain set told_at = now() + interval '1 hour' where id = '"
                    + made.rain().id() + "'");
        }
        Future<Rain.View> cancelling;
        try (Connection held = TestDatabase.lockRows(
                servers.postgresOwnerUrl(), "packet where id = '" + drops(made).get(499) + "'")) {
            // When it is cancelled, and waits for that drop while another one falls
            cancelling = engine.loop(0)
                    .call(services ->
                            services.rains.cancel(TestDraws.SERVICE, made.rain().id()));
            eventually(
                    Duration.ofSeconds(10),
                    () -> assertThat(books.longOf("select count(*) from pg_stat_activity"
                                    + " where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0"))
                            .isPositive());
            long before = announced(made);
            eventually(Duration.ofSeconds(10), () -> assertThat(announced(made)).isGreaterThan(before));
        }
        get(cancelling);

        // Then
        Rain.View ended = rains.awaitEnded(made);
        assertThat(announced(made)).isLessThanOrEqualTo(ended.fallen().size());
        assertThat(engine.balance("slow-canceller")).isEqualTo(10_000);
    }

    /** The number of its drops that its channel announced. */
    private long announced(Rain.View rain) {
        return books.longOf("select count(*) from group_event where type = 'packet.sent' and group_id = 'rain:"
                + rain.rain().id() + "'");
    }

    /** A claim may have to wait longer for a recovery than its caller does. */
    private Kind claimOnceRecovered(String user, PacketId drop) {
        return eventuallyGet(IN_TIME, () -> claim(TestEngine.member(user), drop).kind());
    }

    @Test
    void whatRedisLosesIsMadeAnew() {
        // Given three drops that have fallen and many that have not, and claims up to the limit and below it
        Rain.View rain = awaitMiddle(rains.create(aMinute(500, 5, 2)));
        List<PacketId> fallen = fallen(rain);
        for (PacketId drop : fallen.subList(0, 2)) {
            assertThat(claim(TestEngine.member("hal"), drop).kind()).isEqualTo(Kind.CLAIMED);
        }
        assertThat(claim(TestEngine.member("ida"), fallen.get(1)).kind()).isEqualTo(Kind.CLAIMED);

        // When
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.flushAll();
        }

        // Then nobody has more than the limit, and nothing twice
        assertThat(claimOnceRecovered("ida", fallen.get(2))).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED);
        assertThat(claimOnceRecovered("hal", fallen.get(2))).isEqualTo(Kind.LIMITED);
        assertThat(claimOnceRecovered("ida", fallen.get(0))).isEqualTo(Kind.LIMITED);
        assertThat(claimOnceRecovered("hal", fallen.get(0))).isEqualTo(Kind.ALREADY_CLAIMED);
        books.assertReconciled();

        // Then it ends to the cent
        rains.cancel(rain.rain().id());
        assertThat(rains.awaitEnded(rain).caught()).isEqualTo(new Rain.View.Caught(4, 40, 24_960));
    }

    @Test
    void itIsToldWhenTheServerThatMadeItIsGone() {
        // Given
        Rain.View rain;
        try (TestEngine maker = TestEngine.start(servers, 1, Map.of())) {
            rain = new TestRains(maker).create(aMinute(4, 1, 1));
        }
        String channel = "select type from group_event where group_id = 'rain:"
                + rain.rain().id() + "' order by seq";

        // When
        Rain.Definition.Fall fall = rain.rain().definition().fall();
        awaitMoment(fall.startsAt());
        eventually(IN_TIME, () -> assertThat(books.strings(channel)).contains("rain.started"));
        awaitMoment(fall.lastAt().plusMillis(100));
        eventually(
                IN_TIME,
                () -> assertThat(books.strings(channel)).endsWith("packet.sent").hasSize(6));
        awaitMoment(fall.endsAt());
        Rain.View ended = rains.awaitEnded(rain);

        // Then
        assertThat(ended.caught()).isEqualTo(new Rain.View.Caught(0, 0, 40));
        eventually(
                IN_TIME,
                () -> assertThat(books.strings(channel))
                        .containsExactly(
                                "rain.announced",
                                "rain.started",
                                "packet.sent",
                                "packet.sent",
                                "packet.sent",
                                "packet.sent",
                                "rain.ended"));
    }
}
