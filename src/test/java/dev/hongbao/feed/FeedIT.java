package dev.hongbao.feed;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.Profiles;
import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.CountingPool;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketService;
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
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The feeds on real stores, of packets and then of draws: two servers that share them, polled without a face. */
class FeedIT extends TwoEngines {
    private static final Duration SOON = Duration.ofSeconds(15);

    private TestDraws draws;

    @BeforeAll
    void pay() {
        draws = new TestDraws(engine);
        engine.deposit("alice", 10_000_000);
    }

    @Override
    protected Map<String, String> options() {
        return Map.of("claim.settle-timeout", "20s");
    }

    /** One test forges plays, which are not in Redis. */
    @Override
    protected void assertBooks() {
        books.assertClean();
    }

    private static FeedPage poll(TestEngine engine, Long after, Duration wait) {
        return get(engine.loop(0)
                .call(services ->
                        services.feed.poll(member("bob"), GROUP, after, wait).page()));
    }

    private static long head(TestEngine engine) {
        return poll(engine, null, Duration.ZERO).next();
    }

    /** Reads what a server tells of a packet or a draw, on from a place. */
    private static final class Reader {
        private final TestEngine engine;
        private final UUID subject;
        private final List<JsonObject> events = new ArrayList<>();
        private long place;

        Reader(TestEngine engine, long place, UUID subject) {
            this.engine = engine;
            this.place = place;
            this.subject = subject;
        }

        /** Polls until what has come since the last call is enough. @return all events until then */
        List<JsonObject> until(Predicate<List<JsonObject>> isEnough) {
            long deadline = System.nanoTime() + SOON.toNanos();
            int before = events.size();
            while (!isEnough.test(events.subList(before, events.size()))) {
                assertThat(System.nanoTime()).as("there are %s", events).isLessThan(deadline);
                FeedPage page = poll(engine, place, Duration.ofSeconds(1));
                page.items().stream()
                        .filter(event -> event.subject().equals(subject))
                        .forEach(event -> events.add(new JsonObject(event.json())));
                place = page.next();
            }
            return events;
        }
    }

    /** Everything about a packet after a place, polled until an event of {@code last} type has come. */
    private static List<JsonObject> follow(TestEngine engine, long after, Packet packet, String last) {
        return new Reader(engine, after, packet.id().value()).until(has(last));
    }

    /** Everything about a draw after a place, polled until it is enough. */
    private static List<JsonObject> follow(
            TestEngine engine, long after, Draw draw, Predicate<List<JsonObject>> isEnough) {
        return new Reader(engine, after, draw.id().value()).until(isEnough);
    }

    private static Predicate<List<JsonObject>> has(String type) {
        return events -> types(events).contains(type);
    }

    private static List<Integer> progress(List<JsonObject> events) {
        return events.stream()
                .filter(event -> event.getString("type").equals("packet.progress"))
                .map(event ->
                        event.getJsonObject("data").getJsonObject("claimed").getInteger("count"))
                .toList();
    }

    private static List<String> types(List<JsonObject> events) {
        return events.stream().map(event -> event.getString("type")).toList();
    }

    @Test
    void aPacketsLifeIsToldInOrderOnEveryServer() {
        // Given
        long here = head(engine);
        long there = head(other);

        // When one reads all the time, and another one afterwards, on another server
        Packet packet = engine.send("alice", 1000, 3);
        Reader reader = new Reader(engine, here, packet.id().value());
        reader.until(has("packet.sent"));
        engine.claim(packet, "bob");
        reader.until(has("packet.progress"));
        engine.claim(packet, "carol");
        reader.until(has("packet.progress"));
        engine.claim(packet, "dave");
        List<JsonObject> seenHere = reader.until(has("packet.drained"));
        List<JsonObject> seenThere = follow(other, there, packet, "packet.drained");

        // Then
        assertThat(types(seenHere))
                .containsExactly("packet.sent", "packet.progress", "packet.progress", "packet.drained");
        assertThat(progress(seenHere)).containsExactly(1, 2);
        assertThat(seenHere.get(0).getJsonObject("data").getJsonObject("packet").getString("id"))
                .isEqualTo(packet.id().toString());

        // without an amount before the end
        assertThat(seenHere.get(1).getJsonObject("data"))
                .isEqualTo(new JsonObject()
                        .put("packet", packet.id().toString())
                        .put("count", 3)
                        .put("claimed", new JsonObject().put("count", 1)));
        // Progress is cumulative: of what came before the last, the late reader may see nothing
        assertThat(seenThere).isSubsetOf(seenHere).contains(seenHere.get(0), seenHere.get(2), seenHere.get(3));
        assertThat(progress(seenThere)).isSorted();
        JsonObject drained = seenHere.get(3).getJsonObject("data");
        assertThat(drained.getJsonObject("claimed").getLong("amount")).isEqualTo(1000);
        assertThat(drained.getJsonObject("luckiest").getLong("amount")).isPositive();
    }

    /** {@code PacketReadingIT} has the packets of lists. */
    @Test
    void aPacketThatExpiresIsToldWithoutALuckiest() {
        // Given
        long place = head(engine);
        Packet packet = engine.send("alice", TestEngine.lucky(1000, 2, Duration.ofMillis(600)));
        long won = engine.claim(packet, "bob").wonClaim().amount();

        // When
        List<JsonObject> told = follow(engine, place, packet, "packet.refunded");

        // Then it expires before it is refunded
        assertThat(types(told)).startsWith("packet.sent").endsWith("packet.expired", "packet.refunded");
        assertThat(told.get(told.size() - 1).getJsonObject("data").getLong("amount"))
                .isEqualTo(1000 - won);

        // and the list of its claims says so alike
        assertThat(told.get(told.size() - 2).getJsonObject("data").getValue("luckiest", "missing"))
                .isNull();
        assertThat(get(engine.loop(0).call(services -> services.packets.claims(member("bob"), packet.id(), null, 10)))
                        .luckiest())
                .isNull();
    }

    @Test
    void aThousandClaimsAreAFewEvents() {
        // Given
        long place = head(engine);
        Packet packet = engine.send("alice", 100_000, 1001);

        // When
        List<Future<ClaimOutcome>> claims = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            claims.add(engine.claim(i, packet, "u" + i));
        }
        claims.forEach(TestEngine::get);

        // Then
        eventually(SOON, () -> {
            List<JsonObject> events = poll(engine, place, Duration.ZERO).items().stream()
                    .filter(event -> event.subject().equals(packet.id().value()))
                    .map(event -> new JsonObject(event.json()))
                    .toList();
            assertThat(types(events)).containsExactly("packet.sent", "packet.progress");
            assertThat(events.get(1)
                            .getJsonObject("data")
                            .getJsonObject("claimed")
                            .getInteger("count"))
                    .isEqualTo(1000);
        });
    }

    @Test
    void manySendersAtOnceAndNoReaderMissesOne() {
        // Given
        long here = head(engine);
        int sends = 60;

        // When
        List<Future<Packet>> sending = IntStream.range(0, sends)
                .mapToObj(i -> (i % 2 == 0 ? engine : other)
                        .loop(i)
                        .call(services -> services.packets.send(
                                member("alice"), TestEngine.lucky(100, 2, Duration.ofHours(1)), TestEngine.newKey())))
                .toList();
        List<String> told = new ArrayList<>();
        long place = here;
        long deadline = System.nanoTime() + SOON.toNanos();
        while (told.size() < sends && System.nanoTime() < deadline) {
            FeedPage page = poll(other, place, Duration.ofSeconds(1));
            assertThat(page.reset()).isNull();
            page.items().stream()
                    .map(event -> new JsonObject(event.json()))
                    .filter(event -> event.getString("type").equals("packet.sent"))
                    .map(event ->
                            event.getJsonObject("data").getJsonObject("packet").getString("id"))
                    .forEach(told::add);
            place = page.next();
        }

        // Then
        List<String> sent = sending.stream()
                .map(TestEngine::get)
                .map(p -> p.id().toString())
                .toList();
        assertThat(told).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(sent);
    }

    @Test
    void aCursorOfAnotherHistoryIsReset() {
        // Given
        long place = head(engine);
        Packet packet = engine.send("alice", 1000, 3);
        follow(engine, place, packet, "packet.sent");

        // When
        FeedPage page = poll(engine, 1_000_000L, Duration.ofSeconds(5));

        // Then
        assertThat(page.reset()).isEqualTo(FeedPage.Reset.CURSOR_UNKNOWN);
        assertThat(page.next()).isEqualTo(head(engine));
        assertThat(page.packets()).anyMatch(view -> view.packet().id().equals(packet.id()));
    }

    @Test
    void aCursorOlderThanWhatIsKeptIsReset() {
        // Given
        long place = head(engine);
        Packet first = engine.send("alice", 1000, 3);
        follow(engine, place, first, "packet.sent");
        Packet second = engine.send("alice", 1000, 3);
        follow(engine, place, second, "packet.sent");

        // When
        get(new FeedStore(engine.engine().pool()).trimPage(Duration.ofHours(1), 1, "0"));

        // Then
        FeedPage page = poll(engine, 0L, Duration.ZERO);
        assertThat(page.reset()).isEqualTo(FeedPage.Reset.CURSOR_TOO_OLD);
        FeedPage next = poll(engine, page.next(), Duration.ZERO);
        assertThat(next.reset()).isNull();
    }

    @Test
    void anEventOfATypeThatOnlyANewerVersionKnowsIsPassedOver() {
        // Given such an event, between two others
        long before = head(engine);
        Packet packet = engine.send("alice", 100, 10);
        follow(engine, before, packet, "packet.sent");
        books.execute("with feed as (update feed set last = last + 1 where group_id = '" + GROUP.value()
                + "' returning group_id, last) insert into group_event (group_id, seq, type, subject, claimed)"
                + " select group_id, last, 'packet.newer', '" + packet.id() + "', 0 from feed");
        assertThat(engine.claim(packet, "bob").kind()).isEqualTo(ClaimOutcome.Kind.CLAIMED);

        // When
        List<JsonObject> told = follow(engine, before, packet, "packet.progress");

        // Then
        assertThat(told).extracting(event -> event.getString("type")).containsExactly("packet.sent", "packet.progress");
    }

    /** What it costs to tell how packets ended. */
    @Test
    void howAPageOfPacketsEndedIsAskedOnceAndNoWinnersAreKept() {
        // Given five packets that went back, and five that were drained
        int each = 5;
        List<Packet> sent = new ArrayList<>();
        for (int i = 0; i < 2 * each; i++) {
            Packet packet = engine.send("alice", 1000, 3);
            sent.add(packet);
            engine.claim(packet, "bob").wonClaim();
            if (i < each) {
                books.expire(packet);
            } else {
                engine.claim(packet, "alice").wonClaim();
                engine.claim(packet, "carol").wonClaim();
            }
            books.awaitClosed(packet);
        }
        CountingPool counted = new CountingPool(engine.engine().pool());
        PacketService packets = counted.service();
        EventText text =
                new EventText(packets, engine.engine().draws, engine.engine().campaigns, new Profiles(counted.pool()));
        List<EventRow> rows = IntStream.range(0, 2 * each)
                .mapToObj(i -> new EventRow(
                        GROUP,
                        i + 1,
                        i < each ? EventRow.REFUNDED : EventRow.DRAINED,
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
        assertThat(events).hasSize(2 * each);
        for (int i = 0; i < 2 * each; i++) {
            Packet packet = sent.get(i);
            JsonObject data = new JsonObject(events.get(i).json()).getJsonObject("data");
            JsonObject claimed = data.getJsonObject("claimed");
            assertThat(packets.isKnownOver(packet.id())).isFalse();
            if (i < each) {
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

    // Draws

    private static Predicate<List<JsonObject>> until(int wins) {
        return events -> wins(events) >= wins;
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
        draws.deposit("shop", TestDraws.POINTS, 100);
        long here = poll(engine, null, Duration.ZERO).next();
        long there = poll(other, null, Duration.ZERO).next();
        Draw draw = draws.create("""
            {name: wheel, group: family, mode: table, whenExhausted: fallback, prizes: [
              {name: cash, category: big, count: 1, stock: 1, award: {asset: CNY, amount: 888}},
              {name: ticket, count: 1, award: {codes: [SECRET-1]}},
              {name: thanks, count: 8}],
             fallback: {name: a point, stock: 100, award: {asset: POINTS, amount: 1}}}
            """);
        follow(engine, here, draw, has("draw.opened"));

        // When
        get(draws.play(0, draw, "bob", 10, TestEngine.newKey()));
        get(draws.play(0, draw, "bob", 2, TestEngine.newKey()));
        close(draw);
        List<JsonObject> seenHere = follow(engine, here, draw, has("draw.closed"));
        List<JsonObject> seenThere = follow(other, there, draw, has("draw.closed"));

        // Then the two that are worth it are told, without the code: no consolation, and not the fallback
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
                .doesNotContain("thanks", "a point");
    }

    @Test
    void aDrawThatOpensLaterIsToldWhenItOpens() {
        // Given
        long place = poll(engine, null, Duration.ZERO).next();
        Instant opening = Instant.now().plusMillis(700);

        // When
        Draw draw = draws.create(
                "{group: family, mode: weights, opensAt: '%s', prizes: [{name: a, weight: 1}]}".formatted(opening));
        List<JsonObject> events = follow(engine, place, draw, has("draw.opened"));

        // Then
        assertThat(events).hasSize(1);
        assertThat(Instant.parse(events.get(0).getString("at"))).isAfterOrEqualTo(opening);
    }

    @Test
    void aStormOfWinsInAllDrawsOfAGroupIsAFewEventsThatCountThemAll() {
        // Given two draws
        long place = head(engine);
        List<Draw> all = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            all.add(draws.create("{group: family, mode: weights, prizes: [{name: a, category: win, weight: 1}]}"));
        }

        // When
        List<Future<PlayOutcome>> plays = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            plays.add(draws.play(i, all.get(i % 2), "u" + i, 10, TestEngine.newKey()));
        }
        plays.forEach(TestEngine::get);

        // Then each draw's wins are told, twenty of them by name
        List<Instant> moments = new ArrayList<>();
        for (Draw draw : all) {
            List<JsonObject> events = follow(engine, place, draw, until(1500));
            assertThat(wins(events)).isEqualTo(1500);
            assertThat(told(events).stream().map(win -> win.getLong("seq")))
                    .doesNotHaveDuplicates()
                    .isSorted()
                    .endsWith(1499L);
            for (JsonObject event : events) {
                if (event.getString("type").equals("draw.won")) {
                    assertThat(event.getJsonObject("data").getJsonArray("wins")).hasSizeLessThanOrEqualTo(20);
                    moments.add(Instant.parse(event.getString("at")));
                }
            }
        }

        // in turns, a second apart
        moments.sort(Comparator.naturalOrder());
        for (int i = 1; i < moments.size(); i++) {
            assertThat(Duration.between(moments.get(i - 1), moments.get(i))).isGreaterThanOrEqualTo(DrawFeedTask.GAP);
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
    void winsAreToldAlsoAfterTheClockWentBack() {
        // Given a win that was told in an hour, by the clock of now
        long place = poll(engine, null, Duration.ZERO).next();
        Draw draw = draws.create("{group: family, mode: weights, prizes: [{name: a, category: win, weight: 1}]}");
        get(draws.play(0, draw, "bob"));
        follow(engine, place, draw, until(1));
        books.execute("update draw_feed set told_at = told_at + interval '1 hour' where draw = '" + draw.id() + "'");

        // When there is another one
        get(draws.play(0, draw, "carol"));

        // Then
        follow(engine, place, draw, until(2));
        close(draw);
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
