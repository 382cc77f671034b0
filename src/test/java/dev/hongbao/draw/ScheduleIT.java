package dev.hongbao.draw;

import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestDraws.SERVICE;
import static dev.hongbao.testing.TestEngine.get;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.Shards;
import dev.hongbao.fairness.Evidence;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.testing.TestTime;
import dev.hongbao.values.RefusedException;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Prizes released over time (article 4), with a Postgres whose clock the test moves. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ScheduleIT {
    private static final Duration SOON = Duration.ofSeconds(10);

    private TestTime time;
    private TestEngine engine;
    private TestDraws draws;
    private TestServers servers;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        time = new TestTime(servers);
        engine = TestEngine.start(servers, 2, Map.of("shards", "4"));
        draws = new TestDraws(engine);
    }

    @AfterEach
    void booksAreClean() {
        // A draw whose end has just come is closed soon.
        Eventually.eventually(SOON, new Books(servers)::assertReconciled);
    }

    @AfterAll
    void stop() {
        engine.close();
        time.close();
    }

    private Draw create(String prizes, String schedule, int hours) {
        return draws.create("""
                mode: schedule
                closesAt: "%s"
                schedule: %s
                prizes: %s
                fallback: {name: thanks}
                """.formatted(time.now().plus(Duration.ofHours(hours)), schedule, prizes));
    }

    private long longOf(String sql, Draw draw) {
        return new Books(servers).longOf(sql.replace("DRAW", "'" + draw.id() + "'"));
    }

    /** Waits until a period is planned and in Redis. */
    private void awaitPeriod(Draw draw, int period) {
        Eventually.eventually(SOON, () -> {
            assertThat(longOf("select coalesce(max(n), -1) from period where draw = DRAW", draw))
                    .isGreaterThanOrEqualTo(period);
            assertThat(new Books(servers).hashField(draw.shard(), "d:" + draw.id(), "~"))
                    .isEqualTo(Long.toString(longOf("select max(n) from period where draw = DRAW", draw)));
        });
    }

    /**
     * Moves the clock beyond the last moment at which one of the draws releases a prize, which is another in each run.
     */
    private void awaitMoments(Draw... draws) {
        long last = Stream.of(draws)
                .mapToLong(draw -> longOf(
                        "select ceil(extract(epoch from max(moment)) * 1000)::bigint from release where draw = DRAW",
                        draw))
                .max()
                .orElseThrow();
        time.move(Duration.between(time.now(), Instant.ofEpochMilli(last + 100)), engine);
    }

    private List<Play> playTimes(Draw draw, int times) {
        List<Future<PlayOutcome>> all = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            all.add(draws.play(i, draw, "user" + i));
        }
        return all.stream().flatMap(each -> get(each).plays().stream()).toList();
    }

    /** A closed draw's published data prove every play. */
    private void assertProved(Draw draw) throws IOException {
        Eventually.eventually(
                SOON,
                () -> assertThat(longOf("select count(*) from draw where id = DRAW and closed_at is not null", draw))
                        .isEqualTo(1));
        StringBuilder told = new StringBuilder(DrawBodies.draw(
                get(engine.loop(0).call(services -> services.draws.view(SERVICE, draw.id())))));
        get(engine.loop(0)
                .call(services -> services.draws.export(SERVICE, draw.id(), page -> {
                    page.forEach(line -> told.append(DrawBodies.jsonLine(line)));
                    return Future.succeededFuture();
                })));
        Evidence.Proof proof =
                Evidence.read(new ByteArrayInputStream(told.toString().getBytes(StandardCharsets.UTF_8)));
        assertThat(proof.contradictions()).isEmpty();
        assertThat(proof.shown()).as("no period was late").hasSize(3);
    }

    @Test
    void twelveHoursGiveEachPeriodsQuotaAndNoPrizeBeforeItsMoment() throws Exception {
        // Given 3 an hour, twice as many in the fourth and the fifth hour
        Instant opening = time.now();
        Draw draw = create(
                "[{name: phone, quota: 1, stock: 12}, {name: coupon, quota: 2, stock: 1000}]",
                "{periodSeconds: 3600, boosts: [{from: \"%s\", to: \"%s\", times: 2}]}"
                        .formatted(
                                opening.plus(Duration.ofMinutes(3 * 60 - 30)),
                                opening.plus(Duration.ofMinutes(5 * 60 - 30))),
                12);

        // When it is played four times every twenty minutes
        long won = 0;
        for (int step = 0; step < 12 * 3; step++) {
            if (step % 3 == 0) {
                awaitPeriod(draw, step / 3);
            }
            won += playTimes(draw, 4).stream()
                    .filter(play -> play.number() != 3)
                    .count();
            time.move(Duration.ofMinutes(20), engine);
        }

        // Then every period has its quota, while there is stock
        assertThat(longOf("select count(*) from period where draw = DRAW", draw))
                .isEqualTo(12);
        assertThat(longOf(
                        "select count(*) from (select from release where draw = DRAW and prize = 2"
                                + " group by period having count(*) <> case when period between 3 and 4 then 4 else 2 end) as x",
                        draw))
                .isZero();
        assertThat(longOf("select planned from prize where draw = DRAW and n = 1", draw))
                .isEqualTo(12);
        // the stock of 12 phones lasts for 14 wanted ones: the last two hours have none
        assertThat(longOf(
                        "select count(distinct period) from release where draw = DRAW and prize = 1 and period >= 10",
                        draw))
                .isZero();
        assertThat(longOf(
                        "select count(*) from release as r join period as p on p.draw = r.draw and p.n = r.period"
                                + " where r.draw = DRAW and (r.moment < p.starts_at or r.moment >= p.ends_at)",
                        draw))
                .isZero();
        // and no play took one before its moment
        assertThat(longOf(
                        "select count(*) from play as y join release as r on r.draw = y.draw and r.period = y.period"
                                + " and r.prize = y.prize and r.n = y.release where y.draw = DRAW and r.moment > y.at",
                        draw))
                .isZero();
        assertThat(won).isGreaterThan(25);
        assertThat(longOf("select count(*) from play where draw = DRAW and period is not null", draw))
                .isEqualTo(won);
        assertProved(draw);
    }

    @Test
    void aPlanThatPostgresLostLeavesRedisWithTheNextOne() {
        // Given a plan that a restore of Postgres took back, and Redis did not
        Draw draw = create("[{name: a, quota: 5, stock: 100}]", "{periodSeconds: 3600, carryOver: false}", 3);
        awaitPeriod(draw, 0);
        Books books = new Books(servers);
        long epochs = books.sumOfEpochs();
        books.execute("update prize set planned = 0 where draw = '" + draw.id() + "'");
        books.execute("delete from release where draw = '" + draw.id() + "'");
        books.execute("delete from period where draw = '" + draw.id() + "'");

        // When its time is over, so that it is not planned again
        time.move(Duration.ofHours(1), engine);

        // Then
        Eventually.eventually(SOON, () -> assertThat(books.sumOfEpochs()).isGreaterThan(epochs));
        awaitPeriod(draw, 1);
        Eventually.eventually(SOON, books::assertReconciled);
        time.move(Duration.ofHours(4), engine);
    }

    @Test
    void aPlanThatIsMadeAgainDoesNotHideTheLostOnesBeforeIt() {
        // Given two plans that a restore of Postgres took back, and Redis did not
        Draw draw = create("[{name: a, quota: 5, stock: 100}]", "{periodSeconds: 3600, carryOver: false}", 5);
        awaitPeriod(draw, 0);
        time.move(Duration.ofMinutes(90), engine);
        awaitPeriod(draw, 1);
        time.move(Duration.ofSeconds(29 * 60 + 30), engine);
        awaitPeriod(draw, 2);
        Books books = new Books(servers);
        books.execute("delete from release where draw = '" + draw.id() + "' and period > 0");
        books.execute("delete from period where draw = '" + draw.id() + "' and n > 0");
        books.execute("update prize as p set planned = (select count(*) from release as r"
                + " where r.draw = p.draw and r.prize = p.n and not r.withdrawn) where draw = '" + draw.id() + "'");

        // When the second one's time has come, so that it is made again with the next, and the first one is not
        time.move(Duration.ofHours(1), engine);

        // Then
        awaitPeriod(draw, 3);
        Eventually.eventually(SOON, books::assertReconciled);
        time.move(Duration.ofHours(4), engine);
    }

    /** Maybe between two of its writes, and nobody plays meanwhile whose call would fail too. */
    @Test
    void periodsAreLoadedThoughTheScriptThatLoadsThemFailed() {
        // Given a schedule that no script can work with
        Draw draw = create("[{name: a, quota: 2, stock: 100}]", "{periodSeconds: 3600}", 3);
        awaitPeriod(draw, 0);
        Books books = new Books(servers);
        long epochs = books.sumOfEpochs();
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.set(books.stamps().get(draw.shard()) + ":m:" + draw.id(), "no sorted set");
        }

        // When
        time.move(Duration.ofHours(1), engine);

        // Then
        Eventually.eventually(SOON, () -> assertThat(books.sumOfEpochs()).isGreaterThan(epochs));
        awaitPeriod(draw, 1);
        time.move(Duration.ofHours(3), engine);
    }

    @Test
    void drawsThatAreBehindArePlannedByTurns() {
        // Given two draws that are seven periods behind, and an owner whose time is over after two periods
        get(engine.engine().stopWriter());
        Draw one = create("[{name: a, quota: 1, stock: 100}]", "{periodSeconds: 600}", 2);
        Draw two = create("[{name: a, quota: 1, stock: 100}]", "{periodSeconds: 600}", 2);
        time.move(Duration.ofHours(1), engine);
        OwnerTask planning = planning(TimeUnit.MILLISECONDS.toNanos(150));
        String count = "select count(*) from period where draw = DRAW";

        for (long before = 0, after = 0; after < 14; before = after) {
            // When
            get(engine.loop(0).call(services -> planning.run(List.of(0, 1, 2, 3), services.redis)));

            // Then both go on, each a little at a time
            after = longOf(count, one) + longOf(count, two);
            assertThat(after - before).isLessThanOrEqualTo(2);
            assertThat(longOf(count, one) - longOf(count, two)).isBetween(-2L, 2L);
        }
        get(engine.engine().startWriter());
        awaitPeriod(one, 6);
        awaitPeriod(two, 6);
        time.move(Duration.ofHours(2), engine);
    }

    @Test
    void definitionsThatAreReadSlowlyArePlanned() {
        // Given an owner that needs longer for the definitions than for a turn
        get(engine.engine().stopWriter());
        Draw draw = create("[{name: a, quota: 1, stock: 100}]", "{periodSeconds: 600}", 2);
        OwnerTask planning = planning(TimeUnit.MILLISECONDS.toNanos(499));

        // When
        get(engine.loop(0).call(services -> planning.run(List.of(0, 1, 2, 3), services.redis)));

        // Then
        assertThat(longOf("select count(*) from period where draw = DRAW", draw))
                .isPositive();
        get(engine.engine().startWriter());
        time.move(Duration.ofHours(1), engine);
    }

    private OwnerTask planning(long nanos) {
        return ownerTasks(nanos).get(1);
    }

    /** The owner's tasks. @param nanos between two looks at its clock */
    private List<OwnerTask> ownerTasks(long nanos) {
        Pool pool = engine.engine().pool();
        Shards shards = engine.shards(4, "period", "end");
        Loop loop = Loop.of(engine.vertx());
        AtomicLong clock = new AtomicLong();
        Loop slow = (Loop) Proxy.newProxyInstance(
                Loop.class.getClassLoader(),
                new Class<?>[] {Loop.class},
                (proxy, method, of) ->
                        method.getName().equals("nanos") ? clock.addAndGet(nanos) : method.invoke(loop, of));
        DrawStore store = new DrawStore(pool);
        return new DrawOwnerTask(
                        pool,
                        store,
                        new DrawCatalog(store),
                        new DrawPlanner(pool),
                        new LinkedBlockingQueue<>(),
                        shards,
                        slow)
                .tasks();
    }

    @Test
    void aPlannerThatReadsSlowlyHoldsUpNoPlay() throws Exception {
        assertPlaysWhilePlannerWaits("quota", "access exclusive");
    }

    @Test
    void aPlannerThatWritesSlowlyHoldsUpNoPlay() throws Exception {
        assertPlaysWhilePlannerWaits("release", "share");
    }

    private void assertPlaysWhilePlannerWaits(String table, String mode) throws Exception {
        // Given
        draws.deposit("anna", POINTS, 10);
        Draw draw = draws.create("""
                mode: schedule
                closesAt: "%s"
                cost: {asset: POINTS, amount: 10}
                schedule: {periodSeconds: 3600}
                prizes: [{name: a, quota: 1, stock: 10}]
                fallback: {name: thanks}
                """.formatted(time.now().plus(Duration.ofHours(3))));
        awaitPeriod(draw, 0);
        try (Connection owner = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            statement.execute("lock table " + table + " in " + mode + " mode");
            Future<Boolean> planned = new DrawPlanner(engine.engine().pool()).plan(draw, 1);
            Eventually.eventually(
                    SOON,
                    () -> assertThat(longOf(
                                    "select count(*) from pg_locks where relation = '" + table
                                            + "'::regclass and not granted",
                                    draw))
                            .isEqualTo(1));

            // When
            PlayOutcome played = get(draws.play(0, draw, "anna"));

            // Then
            assertThat(played.kind()).isEqualTo(PlayOutcome.Kind.PLAYED);
            owner.rollback();
            assertThat(get(planned)).isTrue();
        }
        time.move(Duration.ofHours(4), engine);
    }

    @Test
    void aQuotaThatIsSetWhileAPeriodIsPlannedComesTooLate() throws Exception {
        // Given a planner that has read the quotas of a period and waits to take the prizes
        Draw draw = create("[{name: a, quota: 5, stock: 100}]", "{periodSeconds: 3600}", 3);
        awaitPeriod(draw, 0);
        try (Connection other =
                TestDatabase.lockRows(servers.postgresOwnerUrl(), "prize where draw = '" + draw.id() + "'")) {
            Future<Boolean> planned = new DrawPlanner(engine.engine().pool()).plan(draw, 1);
            Eventually.eventually(
                    SOON,
                    () -> assertThat(longOf("select count(*) from pg_locks where not granted", draw))
                            .isEqualTo(1));

            // When
            Future<Void> changed =
                    engine.loop(0).call(services -> services.draws.changeQuota(SERVICE, draw.id(), 1, 1, 9));
            Eventually.eventually(
                    SOON,
                    () -> assertThat(longOf("select count(*) from pg_locks where not granted", draw))
                            .isEqualTo(2));
            other.rollback();

            // Then
            assertThat(get(planned)).isTrue();
            assertThatThrownBy(() -> get(changed)).isInstanceOf(RefusedException.class);
        }
        assertThat(longOf("select count(*) from release where draw = DRAW and period = 1", draw))
                .isEqualTo(5);
        time.move(Duration.ofHours(4), engine);
    }

    @Test
    void aLaterPeriodsQuotaCanBeChangedARunningOnesCannot() {
        // Given
        Draw draw = create("[{name: a, quota: 5, stock: 100}]", "{periodSeconds: 3600}", 3);
        awaitPeriod(draw, 0);

        // When
        get(engine.loop(0).call(services -> services.draws.changeQuota(SERVICE, draw.id(), 1, 1, 9)));
        assertThatThrownBy(() ->
                        get(engine.loop(0).call(services -> services.draws.changeQuota(SERVICE, draw.id(), 1, 0, 9))))
                .isInstanceOf(RefusedException.class);
        time.move(Duration.ofHours(1), engine);
        awaitPeriod(draw, 1);

        // Then
        assertThat(longOf("select count(*) from release where draw = DRAW and period = 0", draw))
                .isEqualTo(5);
        assertThat(longOf("select count(*) from release where draw = DRAW and period = 1", draw))
                .isEqualTo(9);
        time.move(Duration.ofHours(3), engine);
    }

    /** One statement may settle the ends of all shards. */
    @Test
    void anEndIsWrittenOnceAndThatOfAnotherShardWaitsForIt() {
        // Given periods of two shards that end together, with more releases than are settled at once
        List<Draw> all = new ArrayList<>();
        while (all.stream().map(Draw::shard).distinct().count() < 2) {
            all.add(create("[{name: a, quota: 1, stock: 10}]", "{periodSeconds: 3600, carryOver: false}", 2));
        }
        all.forEach(draw -> awaitPeriod(draw, 0));
        get(engine.engine().stopWriter());
        Books books = new Books(servers);
        String ofAll = " where draw in ('"
                + all.stream().map(Draw::id).map(String::valueOf).collect(joining("', '")) + "')";
        books.execute("update release set n = 26000" + ofAll);
        time.move(Duration.ofMinutes(61), engine);

        // When nothing is settled
        OwnerTask ending = ownerTasks(0).get(3);
        for (int tick = 0; tick < 4; tick++) {
            get(engine.loop(0).call(services -> ending.run(List.of(0, 1, 2, 3), services.redis)));
        }

        // Then
        assertThat(all.stream().flatMap(draw -> journalOf(draw).stream())).hasSize(1);
        books.execute("update release set n = 1" + ofAll);
        get(engine.engine().startWriter());
        for (Draw draw : all) {
            Eventually.eventually(
                    SOON,
                    () -> assertThat(longOf(
                                    "select count(*) from period where draw = DRAW and ended_at is not null", draw))
                            .isEqualTo(1));
        }
        time.move(Duration.ofHours(3), engine);
    }

    /** The payloads about a draw in its shard's journal. */
    private List<String> journalOf(Draw draw) {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            return redis.xrange(new Books(servers).journalKeys().get(draw.shard()), "-", "+").stream()
                    .flatMap(entry -> entry.getFields().values().stream())
                    .filter(payload -> payload.contains(draw.id().toString()))
                    .toList();
        }
    }

    @Test
    void whatNobodyTookReturnsToTheStockOrCarriesOver() throws Exception {
        // Given two draws of which nobody takes anything in the first hour
        Draw returning = create("[{name: a, quota: 5, stock: 7}]", "{periodSeconds: 3600, carryOver: false}", 3);
        Draw carrying = create("[{name: a, quota: 5, stock: 7}]", "{periodSeconds: 3600, carryOver: true}", 3);
        awaitPeriod(returning, 0);
        awaitPeriod(carrying, 0);

        // When
        time.move(Duration.ofMinutes(61), engine);
        Eventually.eventually(
                SOON,
                () -> assertThat(longOf("select count(*) from release where draw = DRAW and withdrawn", returning))
                        .isEqualTo(5));
        time.move(Duration.ofMinutes(60), engine);
        awaitPeriod(returning, 2);
        awaitPeriod(carrying, 2);
        awaitMoments(returning, carrying);

        // Then the last period has its quota from the returned stock, and only that can be won
        assertThat(longOf("select count(*) from release where draw = DRAW and period = 2", returning))
                .isEqualTo(5);
        assertThat(TestDraws.counts(playTimes(returning, 20))).containsEntry("a", 5L);
        // and there the whole stock is due
        assertThat(TestDraws.counts(playTimes(carrying, 20))).containsEntry("a", 7L);
        time.move(Duration.ofHours(1), engine);
        assertProved(returning);
        assertProved(carrying);
    }
}
