package dev.hongbao.feed;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TwoEngines;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The events of draws in a group's feed, at two servers that share their stores. */
class DrawFeedIT extends TwoEngines {
    private static final Duration SOON = Duration.ofSeconds(15);

    private TestDraws draws;

    @BeforeAll
    void make() {
        draws = new TestDraws(engine);
    }

    @Override
    protected Map<String, String> options() {
        return Map.of("claim.settle-timeout", "20s");
    }

    @Override
    protected void assertBooks() {
        books.assertClean();
    }

    private static FeedPage poll(TestEngine engine, Long after, Duration wait) {
        return get(engine.loop(0)
                .call(services ->
                        services.feed.poll(member("zoe"), GROUP, after, wait).page()));
    }

    /** Everything about a draw after a place, polled until it is enough. */
    private static List<JsonObject> follow(
            TestEngine engine, long after, Draw draw, Predicate<List<JsonObject>> isEnough) {
        List<JsonObject> events = new ArrayList<>();
        long place = after;
        long deadline = System.nanoTime() + SOON.toNanos();
        while (!isEnough.test(events)) {
            assertThat(System.nanoTime()).as("there are %s", events).isLessThan(deadline);
            FeedPage page = poll(engine, place, Duration.ofSeconds(1));
            page.items().stream()
                    .filter(event -> event.subject().equals(draw.id().value()))
                    .forEach(event -> events.add(new JsonObject(event.json())));
            place = page.next();
        }
        return events;
    }

    private static Predicate<List<JsonObject>> until(String type) {
        return events -> types(events).contains(type);
    }

    private static Predicate<List<JsonObject>> until(int wins) {
        return events -> wins(events) >= wins;
    }

    private static List<String> types(List<JsonObject> events) {
        return events.stream().map(event -> event.getString("type")).toList();
    }

    /** How many wins the events tell. */
    private static int wins(List<JsonObject> events) {
        return events.stream()
                .filter(event -> event.getString("type").equals("draw.won"))
                .mapToInt(event -> event.getJsonObject("data").getInteger("count"))
                .sum();
    }

    private static List<JsonObject> told(List<JsonObject> events) {
        return events.stream()
                .filter(event -> event.getString("type").equals("draw.won"))
                .flatMap(event -> event.getJsonObject("data").getJsonArray("wins").stream())
                .map(JsonObject.class::cast)
                .toList();
    }

    private void close(Draw draw) {
        get(engine.loop(0).call(services -> services.draws.close(TestDraws.SERVICE, draw.id())));
    }

    @Test
    void aDrawsLifeIsToldInOrderOnEveryServer() {
        // Given
        draws.deposit("shop", TestEngine.CNY, 1000);
        long here = poll(engine, null, Duration.ZERO).next();
        long there = poll(other, null, Duration.ZERO).next();
        Draw draw = draws.create("""
            {name: wheel, group: family, mode: table, whenExhausted: stop, prizes: [
              {name: cash, category: big, count: 1, stock: 1, award: {asset: CNY, amount: 888}},
              {name: ticket, count: 1, award: {codes: [SECRET-1]}},
              {name: thanks, count: 8}]}
            """);
        follow(engine, here, draw, until("draw.opened"));

        // When
        get(draws.play(0, draw, "bob", 10, TestEngine.newKey()));
        close(draw);
        List<JsonObject> seenHere = follow(engine, here, draw, until("draw.closed"));
        List<JsonObject> seenThere = follow(other, there, draw, until("draw.closed"));

        // Then the two that are worth it are told, without the code
        assertThat(types(seenHere)).containsExactly("draw.opened", "draw.won", "draw.closed");
        assertThat(seenThere).isEqualTo(seenHere);
        assertThat(told(seenHere))
                .hasSize(2)
                .allMatch(win -> win.getString("user").equals("bob"));
        assertThat(told(seenHere))
                .filteredOn(win -> win.getString("prize").equals("cash"))
                .singleElement()
                .satisfies(win -> assertThat(win.encode())
                        .contains("\"category\":\"big\"", "\"asset\":\"CNY\"", "\"amount\":888"));
        assertThat(seenHere.toString())
                .doesNotContain("SECRET")
                .contains("ticket")
                .doesNotContain("thanks");
    }

    @Test
    void consolationsAndTheFallbackAreNotTold() {
        // Given
        long place = poll(engine, null, Duration.ZERO).next();
        draws.deposit("shop", TestDraws.POINTS, 100);
        Draw draw = draws.create("""
            {group: family, mode: table, whenExhausted: fallback, prizes: [{name: thanks, count: 1}],
             fallback: {name: a point, stock: 100, award: {asset: POINTS, amount: 1}}}
            """);

        // When
        get(draws.play(0, draw, "bob", 5, TestEngine.newKey()));
        close(draw);

        // Then
        assertThat(types(follow(engine, place, draw, until("draw.closed"))))
                .containsExactly("draw.opened", "draw.closed");
    }

    @Test
    void aDrawThatOpensLaterIsToldWhenItOpens() {
        // Given
        long place = poll(engine, null, Duration.ZERO).next();
        Instant opening = Instant.now().plusMillis(1500);

        // When
        Draw draw = draws.create(
                "{group: family, mode: weights, opensAt: '%s', prizes: [{name: a, weight: 1}]}".formatted(opening));
        List<JsonObject> events = follow(engine, place, draw, until("draw.opened"));

        // Then
        assertThat(events).hasSize(1);
        assertThat(Instant.parse(events.get(0).getString("at"))).isAfterOrEqualTo(opening);
    }

    @Test
    void aStormOfWinsIsAFewEventsThatCountThemAll() {
        // Given
        long place = poll(engine, null, Duration.ZERO).next();
        Draw draw = draws.create("{group: family, mode: weights, prizes: [{name: a, category: win, weight: 1}]}");

        // When
        long begun = System.nanoTime();
        List<Future<PlayOutcome>> plays = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            plays.add(draws.play(i, draw, "u" + i, 10, TestEngine.newKey()));
        }
        plays.forEach(TestEngine::get);
        List<JsonObject> events = follow(engine, place, draw, until(3000));
        long seconds = 1 + (System.nanoTime() - begun) / 1_000_000_000;

        // Then
        assertThat(wins(events)).isEqualTo(3000);
        assertThat(types(events).stream().filter("draw.won"::equals).count()).isLessThanOrEqualTo(seconds + 1);
        assertThat(events.stream()
                        .filter(event -> event.getString("type").equals("draw.won"))
                        .map(event -> event.getJsonObject("data").getJsonArray("wins")))
                .allMatch(wins -> wins.size() <= 20);
        assertThat(told(events).stream().map(win -> win.getLong("seq")))
                .doesNotHaveDuplicates()
                .isSorted()
                .endsWith(2999L);
    }

    @Test
    void theDrawsOfAGroupTakeTurns() {
        // Given
        long place = poll(engine, null, Duration.ZERO).next();
        List<Draw> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            all.add(draws.create("{group: family, mode: weights, prizes: [{name: a, category: win, weight: 1}]}"));
        }

        // When
        List<Future<PlayOutcome>> plays = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            plays.add(draws.play(i, all.get(i % 3), "u" + i));
        }
        plays.forEach(TestEngine::get);

        // Then each draw's wins are told, a second apart
        List<Instant> told = new ArrayList<>();
        for (Draw draw : all) {
            List<JsonObject> events = follow(engine, place, draw, until(10));
            assertThat(wins(events)).isEqualTo(10);
            events.stream()
                    .filter(event -> event.getString("type").equals("draw.won"))
                    .forEach(event -> told.add(Instant.parse(event.getString("at"))));
        }
        told.sort(Comparator.naturalOrder());
        for (int i = 1; i < told.size(); i++) {
            assertThat(Duration.between(told.get(i - 1), told.get(i))).isGreaterThanOrEqualTo(DrawFeedTask.GAP);
        }
    }

    @Test
    void aBusyDrawWithoutWinsTakesNoTurnFromAnother() {
        // Given a draw whose prizes are not told, and then one with a win; both are opened, and no server tells
        Draw busy = draws.create("{group: turns, mode: weights, prizes: [{name: a, weight: 1}]}");
        Draw other = draws.create("{group: turns, mode: weights, prizes: [{name: b, category: win, weight: 1}]}");
        String told = "select type from group_event where group_id = 'turns' and subject = '%s' order by seq";
        for (Draw draw : List.of(busy, other)) {
            eventually(
                    SOON,
                    () -> assertThat(books.strings(told.formatted(draw.id()))).containsExactly("draw.opened"));
        }
        List.of(engine, this.other).forEach(server -> get(server.engine().stopWriter()));
        try {
            play(other, 0);

            // When the busy one is played before each call
            for (int seq = 0; seq < 3; seq++) {
                play(busy, seq);
                get(tell(busy, other));
            }

            // Then
            assertThat(books.strings(told.formatted(other.id()))).containsExactly("draw.opened", "draw.won");
            assertThat(books.strings(told.formatted(busy.id()))).containsExactly("draw.opened");
            assertThat(books.longOf("select told from draw_feed where draw = '" + busy.id() + "'"))
                    .isEqualTo(2);
        } finally {
            List.of(engine, this.other).forEach(server -> get(server.engine().startWriter()));
        }
    }

    private void play(Draw draw, int seq) {
        books.execute("insert into play (draw, seq, request, nth, round, at, prize, part, user_id) values ('"
                + draw.id() + "', " + seq + ", gen_random_uuid(), " + (seq + 1) + ", " + (seq + 1)
                + ", now(), 1, 0, 'bob')");
    }

    private Future<Object> tell(Draw... some) {
        UUID[] ids = Stream.of(some).map(draw -> draw.id().value()).toArray(UUID[]::new);
        return engine.engine()
                .pool()
                .withTransaction(tx -> tx.preparedQuery("select feed_draws($1, interval '0')")
                        .execute(Tuple.of(ids))
                        .mapEmpty());
    }

    @Test
    void whatAServerDidNotTellIsToldByTheNextOwner() {
        // Given a win that is told, so that the next one waits its time
        long place = poll(engine, null, Duration.ZERO).next();
        Draw draw = draws.create("{group: family, mode: weights, prizes: [{name: a, category: win, weight: 1}]}");
        get(draws.play(0, draw, "bob"));
        follow(engine, place, draw, until(1));

        // When the owner stops before that
        get(draws.play(0, draw, "carol"));
        get(engine.engine().stopWriter());

        // Then
        List<JsonObject> events = follow(other, place, draw, until(2));
        assertThat(told(events).stream().map(win -> win.getString("user"))).containsExactly("bob", "carol");
        get(engine.engine().startWriter());
    }
}
