package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.lucky;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.ShardScript;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.testing.TestTime;
import io.vertx.core.Future;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/**
 * A server that takes the time for hours later than it is in Postgres (invariant I14): it may refuse early, and what it lets
 * through before its time is void.
 */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LeadingClockIT {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final long STEP_NANOS = Duration.ofHours(5).toNanos();

    private final AtomicLong ahead = new AtomicLong();
    private TestServers servers;
    private TestTime time;
    private TestEngine engine;
    private TestDraws draws;
    private Books books;
    private ShardScript script;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        time = new TestTime(servers);
        books = new Books(servers);
        script = new ShardScript(servers);
    }

    /** One for each test, since a shard that contradicts itself again and again pauses longer each time. */
    @BeforeEach
    void serve() {
        engine = TestEngine.start(
                TestEngine.stores(servers),
                1,
                Map.of("shards", "1", "claim.settle-timeout", "10s"),
                () -> System.nanoTime() + ahead.get());
        draws = new TestDraws(engine);
        engine.deposit("alice", 1000);
    }

    @AfterEach
    void leave() {
        engine.close();
        ahead.set(0);
    }

    @AfterAll
    void stop() {
        time.close();
        books.assertClean();
    }

    /** Five hours ahead of Postgres, until it is asked the next time. */
    private void step() {
        ahead.addAndGet(STEP_NANOS);
    }

    private Packet opensIn(Duration later) {
        return engine.send(
                "alice",
                SendCommand.of(GROUP, Packet.Kind.LUCKY, CNY, 100, 2)
                        .opensAt(time.now().plus(later))
                        .expiresIn(HOUR.multipliedBy(9))
                        .build());
    }

    private void awaitPlan(Draw draw) {
        eventually(
                SOON,
                () -> assertThat(books.hashField(0, "d:" + draw.id(), "~")).isEqualTo("0"));
    }

    private double voids() {
        return engine.metrics().get("hongbao.journal.voids").counter().count();
    }

    @Test
    void nothingOpensClosesOrIsGivenBeforeItsTime() {
        // Given a draw that ends in an hour, one with fifty prizes in the next ten hours, a packet that opens and one
        // that expires
        // in an hour
        draws.deposit("vera", POINTS, 100);
        Draw closing = draws.create("{mode: weights, closesAt: '%s', prizes: [{name: a, weight: 1}]}"
                .formatted(time.now().plus(HOUR)));
        Draw scheduled = draws.create("""
                {mode: schedule, closesAt: '%s', cost: {asset: POINTS, amount: 5}, schedule: {periodSeconds: 36000},
                 prizes: [{name: a, quota: 50, stock: 100}], fallback: {name: b}}
                """.formatted(time.now().plus(HOUR.multipliedBy(20))));
        Packet later = opensIn(HOUR);
        Packet open = engine.send("alice", lucky(100, 2, HOUR));
        awaitPlan(scheduled);

        // When the server thinks that it is five hours later, until it asks
        double voids = voids();
        String ends = "select (select count(*) from transfer where kind in ('claim', 'refund'))"
                + " + (select count(*) from draw where closed_at is not null)";
        long before = books.longOf(ends);
        for (int i = 0; i < 3 && voids() == voids; i++) {
            step();
            draws.play(0, closing, "vera"); // may be refused
            assertThat(engine.claim(open, "bob").kind()).isEqualTo(Kind.EXPIRED);
            Future<PlayOutcome> play = draws.play(0, scheduled, "vera");
            assertThat(get(engine.claim(0, later, "bob").map(ClaimOutcome::kind).otherwise(Kind.NOT_OPEN_YET)))
                    .isEqualTo(Kind.NOT_OPEN_YET);
            get(play.otherwiseEmpty());
        }

        // Then what it let through is void
        assertThat(voids()).isGreaterThan(voids);
        assertThat(books.longOf(ends)).isEqualTo(before);
        eventually(
                SOON,
                () -> assertThat(books.longOf("select count(*) from play_request where status = 'held'"))
                        .isZero());
        assertThat(books.longOf("select count(*) from play as y"
                        + " left join release as r on (r.draw, r.period, r.prize, r.n) = (y.draw, y.period, y.prize, y.release)"
                        + " where greatest(y.at, r.moment) > y.settled_at"))
                .isZero();
        assertThat(draws.balance("vera", POINTS))
                .isEqualTo(100 - 5L * draws.plays(scheduled).size());
        books.assertClean();
        books.assertReconciled();

        // When it is an hour later, in Postgres too
        get(engine.engine().clock.ask());
        assertThat(engine.claim(open, "bob").kind()).isEqualTo(Kind.CLAIMED);
        time.move(HOUR.plusSeconds(1), engine);

        // Then
        assertThat(engine.claim(later, "bob").wonClaim().slot()).isZero();
        eventually(
                SOON,
                () -> assertThat(books.strings("select id from draw where closed_at is not null"))
                        .contains(closing.id().toString())
                        .doesNotContain(scheduled.id().toString()));
        books.awaitClosed(open);
    }

    @Test
    void whatWasMadeJustNowIsOpenAlsoForAServerThatLags() {
        // Given
        Draw draw = draws.create("{mode: table, prizes: [{name: a, count: 10}]}");
        Packet packet = engine.send("alice", lucky(100, 2, HOUR));

        // When
        ahead.addAndGet(-STEP_NANOS);
        Future<PlayOutcome> play = draws.play(0, draw, "ann");
        Future<ClaimOutcome> claim = engine.claim(0, packet, "ann");

        // Then
        assertThat(get(play).plays()).hasSize(1);
        assertThat(get(claim).kind()).isEqualTo(Kind.CLAIMED);
    }

    /** As if it went back by five minutes: the rows are moved ahead instead. */
    @Test
    void whatWasOpenWhenItWasMadeStaysOpenWhenPostgresClockGoesBack() {
        // Given
        get(engine.engine().clock.ask());
        double voids = voids();
        long epochs = books.sumOfEpochs();
        Packet packet = engine.send("alice", lucky(100, 2, HOUR));
        Draw draw = draws.create("{mode: weights, prizes: [{name: a, weight: 1}]}");
        books.execute("update packet set created_at = created_at + interval '5 minutes', opens_at = opens_at"
                + " + interval '5 minutes', expires_at = expires_at + interval '5 minutes' where id = '" + packet.id()
                + "'; update draw set created_at = created_at + interval '5 minutes', opens_at = opens_at"
                + " + interval '5 minutes', closes_at = closes_at + interval '5 minutes' where id = '" + draw.id()
                + "'");

        // When, Then
        assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
        assertThat(engine.claim(packet, "carol").kind()).isEqualTo(Kind.CLAIMED);
        assertThat(get(draws.play(0, draw, "bob")).kind()).isEqualTo(PlayOutcome.Kind.PLAYED);

        // When the packet closed before its last claim, too
        books.awaitClosed(packet);
        books.execute(
                "update packet set closed_at = closed_at - interval '30 seconds' where id = '" + packet.id() + "'");

        // Then nothing contradicts
        eventually(SOON, books::assertJournalsEmpty);
        assertThat(voids()).isEqualTo(voids);
        assertThat(books.sumOfEpochs()).isEqualTo(epochs);
        books.assertClean();
    }

    /** Plays as a server whose clock shows {@code at}. @return the request */
    private UUID playAt(Draw draw, Instant at) {
        UUID request = UUID.randomUUID();
        UUID attempt = UUID.randomUUID();
        books.execute("select hold_plays(array['%s']::uuid[], array['%s']::uuid[], array['wendy'],"
                        .formatted(request, draw.id())
                + " array[1]::smallint[], array['" + attempt + "']::uuid[])");
        assertThat(script.play(draw.id(), request, attempt, "wendy", 1, true, at))
                .isEqualTo("+");
        return request;
    }

    private void awaitStatus(UUID request, String status) {
        eventually(
                SOON,
                () -> assertThat(books.strings("select status from play_request where id = '" + request + "'"))
                        .containsExactly(status));
    }

    /** Until an accepted entry was found void, and Redis is written anew. */
    private void awaitVoid(double before, long epochs) {
        eventually(SOON, () -> assertThat(voids()).isEqualTo(before + 1));
        eventually(SOON, () -> assertThat(books.sumOfEpochs()).isGreaterThan(epochs));
    }

    @Test
    void aPlayIsVoidWhoseTimeHasNotComeToTheMinute() {
        // Given
        String definition =
                "{mode: table, %s cost: {asset: POINTS, amount: 5}, prizes: [{name: a, count: 10, stock: 10}]}";
        draws.deposit("wendy", POINTS, 100);
        Draw open = draws.create(definition.formatted(""));
        Draw opensLater =
                draws.create(definition.formatted("opensAt: '" + time.now().plus(HOUR) + "',"));

        // When a server errs by less, Then
        UUID settled = playAt(open, time.now().plusSeconds(30));
        eventually(
                SOON,
                () -> assertThat(books.longOf("select count(*) from play where request = '" + settled + "'"))
                        .isEqualTo(1));

        // When a server errs by more, or lets in before the opening, Then
        for (Draw draw : List.of(open, opensLater)) {
            double voids = voids();
            long epochs = books.sumOfEpochs();
            UUID request = playAt(draw, draw == open ? time.now().plusSeconds(90) : time.now());
            awaitVoid(voids, epochs);
            books.execute("update play_request set held_at = held_at - interval '1 hour' where id = '" + request + "'");
            awaitStatus(request, "returned");
        }
        assertThat(draws.balance("wendy", POINTS)).isEqualTo(95);
        assertThat(books.strings("select sum(issued) from prize where draw in ('%s', '%s')"
                        .formatted(open.id(), opensLater.id())))
                .containsExactly("1");
        books.assertClean();
    }

    @Test
    void aPlayBeforeTheOpeningTellsOfTheOpeningFirst() {
        // Given a draw that opened, and a Postgres whose clock went back
        draws.deposit("wendy", POINTS, 5);
        Draw draw = draws.create("""
                {mode: table, group: family, opensAt: '%s', cost: {asset: POINTS, amount: 5},
                 prizes: [{name: a, count: 1, award: {codes: [C-1]}}]}
                """.formatted(time.now().plusSeconds(30)));

        // When
        playAt(draw, time.now());

        // Then
        eventually(
                SOON,
                () -> assertThat(books.strings("select type from outbox where '" + draw.id()
                                + "' = any (subjects) and type <> 'transfer.cost' order by n"))
                        .containsExactly("draw.opened", "play.settled"));
        eventually(
                SOON,
                () -> assertThat(books.strings(
                                "select type from group_event where subject = '" + draw.id() + "' order by seq"))
                        .containsExactly("draw.opened", "draw.won"));
    }

    @Test
    void aPrizeBeforeItsMomentIsNotGiven() {
        // Given a prize that comes in an hour, and a Redis that says it is due
        Draw draw = draws.create("""
                {mode: schedule, closesAt: '%s', schedule: {periodSeconds: 36000}, prizes: [{name: a, quota: 1, stock: 1}],
                 fallback: {name: b}}
                """.formatted(time.now().plus(HOUR.multipliedBy(20))));
        awaitPlan(draw);
        books.execute("update release set moment = now() + interval '1 hour' where draw = '" + draw.id() + "'");
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.zadd(books.stamps().get(0) + ":m:" + draw.id(), 0, "0:1:1");
        }
        double voids = voids();
        long epochs = books.sumOfEpochs();

        // When
        PlayOutcome outcome = get(draws.play(0, draw, "xavier"));

        // Then it is played again with what Postgres says
        awaitVoid(voids, epochs);
        assertThat(TestDraws.counts(outcome.plays())).isEqualTo(Map.of("b", 1L));
        books.assertClean();
    }

    @Test
    void aClaimBeforeTheOpeningIsVoid() {
        // Given
        Packet packet = opensIn(HOUR);
        double voids = voids();
        long epochs = books.sumOfEpochs();

        // When
        assertThat(script.call(
                        0, "claim", List.of("journal", "p:" + packet.id()), 1000, 1, packet.id(), 2, 1, 0, "yan"))
                .isEqualTo("+0");

        // Then
        awaitVoid(voids, epochs);
        assertThat(books.strings("select user_id from claim where packet = '" + packet.id() + "'"))
                .isEmpty();
        eventually( // a recovery makes the new generation known before it has written its keys
                SOON,
                () -> assertThat(books.hashField(0, "p:" + packet.id(), "#")).isEqualTo("0"));
    }

    @Test
    void anEndBeforeItsTimeIsNone() {
        // Given
        Draw draw = draws.create("""
                {mode: schedule, closesAt: '%s', schedule: {periodSeconds: 3600, carryOver: false},
                 prizes: [{name: a, quota: 3, stock: 10}], fallback: {name: b}}
                """.formatted(time.now().plus(HOUR.multipliedBy(20))));
        awaitPlan(draw);
        List<String> keys = List.of("journal", "d:" + draw.id(), "m:" + draw.id(), "d:" + draw.id(), "m:" + draw.id());

        // When
        assertThat(script.call(0, "end", keys, draw.id(), "-", draw.id(), "0")).isEqualTo("ending ending");

        // Then
        eventually(SOON, books::assertJournalsEmpty);
        assertThat(books.strings("select closed_at from draw where id = '" + draw.id() + "'"))
                .containsOnlyNulls();
        assertThat(books.longOf("select count(*) from release where not withdrawn and draw = '" + draw.id() + "'"))
                .isEqualTo(3);
    }

    @Test
    void whatRedisClosedBeforePostgresClockWentBackIsOpenAgainUntilItIsDueAgain() {
        // Given a packet and a draw that end in an hour
        engine.deposit("zoe", 100);
        Packet packet = engine.send("zoe", lucky(100, 2, HOUR));
        Draw draw = draws.create("{mode: weights, closesAt: '%s', prizes: [{name: a, weight: 1}]}"
                .formatted(time.now().plus(HOUR)));

        // When Redis closes each, as if it had been its time, before Postgres' clock went back: it is soon open there
        // again
        assertThat(script.call(0, "close", List.of("journal", "p:" + packet.id()), packet.id()))
                .isEqualTo("closing");
        awaitOpen("p:" + packet.id());
        assertThat(script.call(0, "end", List.of("journal", "d:" + draw.id(), "m:" + draw.id()), draw.id(), "-"))
                .isEqualTo("ending");
        awaitOpen("d:" + draw.id());

        // Then both are open in Postgres, too
        eventually(SOON, books::assertJournalsEmpty);
        String closed =
                "select id from packet where closed_at is not null and id = '%s' union all".formatted(packet.id())
                        + " select id from draw where closed_at is not null and id = '%s'".formatted(draw.id());
        assertThat(books.strings(closed)).isEmpty();

        // When it is their time again
        time.move(HOUR, engine);

        // Then
        eventually(SOON, () -> assertThat(books.strings(closed)).hasSize(2));
        eventually(SOON, books::assertJournalsEmpty);
        assertThat(engine.balance("zoe")).isEqualTo(100);
        assertThat(books.longOf(
                        "select count(*) from transfer where kind = 'refund' and subject = '" + packet.id() + "'"))
                .isEqualTo(1);
        books.assertClean();
    }

    private void awaitOpen(String key) {
        eventually(SOON, () -> {
            assertThat(books.hashField(0, key, "#")).isEqualTo("0");
            assertThat(books.hashField(0, key, "!")).isNull();
            books.assertReconciled(); // a recovery writes the journal last
        });
    }
}
