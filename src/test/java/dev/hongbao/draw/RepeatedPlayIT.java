package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.draw.Play.PlayOutcome.Kind;
import dev.hongbao.draw.PlayRequestStore.AttemptKey;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.ShardScript;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UserId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/**
 * A request of a free draw writes nothing before it is decided: two servers take the same one, whenever they like, and it is played
 * once (invariants I6 and I10). After each test the table can be played to its end: no prize was lost, and none is there twice.
 */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RepeatedPlayIT {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int TEN = 10;

    /** Long enough for any machine; nobody waits for it. */
    private static final Map<String, String> OPTIONS = Map.of("shards", "1", "claim.settle-timeout", "30s");

    private final IdempotencyKey key = TestEngine.newKey();
    private TestServers servers;
    private Books books;
    private List<TestEngine> engines;
    private Draw draw;
    private double voids;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engines = List.of(TestEngine.start(servers, 1, OPTIONS), TestEngine.start(servers, 1, OPTIONS));
    }

    @AfterAll
    void stop() {
        engines.forEach(TestEngine::close);
    }

    @BeforeEach
    void aTableOfForty() {
        draw = new TestDraws(engines.get(0)).create("""
                {mode: table, limits: {total: 1000}, prizes: [{name: a, count: 8, stock: 8}, {name: b, count: 32}]}
                """);
        voids = voids();
    }

    @AfterEach
    void theRestOfTheTableIsThere() {
        Stream.generate(() -> play(0, "rest", TestEngine.newKey(), 1))
                .limit(40 - settled().size())
                .toList()
                .forEach(rest -> assertThat(get(rest).kind()).isEqualTo(Kind.PLAYED));
        assertThat(TestDraws.counts(settled())).isEqualTo(Map.of("a", 8L, "b", 32L));
        assertThat(get(play(1, "rest", TestEngine.newKey(), 1)).kind()).isEqualTo(Kind.EXHAUSTED);
        eventually(SOON, books::assertJournalsEmpty);
        books.assertClean();
        books.assertReconciled();
    }

    private Future<PlayOutcome> play(int server, String user, IdempotencyKey with, int plays) {
        return new TestDraws(engines.get(server)).play(0, draw, user, plays, with);
    }

    private List<Play> settled() {
        return new TestDraws(engines.get(0)).plays(draw);
    }

    private double voids() {
        return engines.stream()
                .mapToDouble(engine ->
                        engine.metrics().get("hongbao.journal.voids").counter().count())
                .sum();
    }

    private PlayRequest request(String user) {
        return PlayRequest.of(draw.id(), new UserId(user), key, TEN);
    }

    /** Else plays would be dearer from month to month. */
    @Test
    void anEarlierPlayIsLookedForInTheMonthOfItsDraw() throws SQLException {
        String request = "array['" + UUID.randomUUID() + "']::uuid[]";
        String ofDraw = "array['" + draw.id() + "']::uuid[]";
        for (String look : List.of(
                PlayRequestStore.PLAYED_BEFORE.replace("$1", request).replace("$2", ofDraw),
                "select from hold_plays(" + request + ", " + ofDraw + ", array['ann'], array[1]::smallint[], " + request
                        + ")")) {
            // When
            try (Connection connection = TestDatabase.begin(servers.postgresAppUrl(), look);
                    Statement statement = connection.createStatement();
                    ResultSet months = statement.executeQuery(
                            "select count(distinct x.indrelid)"
                                    + " from pg_inherits as i join pg_index as x on x.indrelid = i.inhrelid"
                                    + " where i.inhparent = 'play'::regclass and pg_stat_get_xact_numscans(x.indexrelid) > 0")) {
                months.next();

                // Then
                assertThat(months.getInt(1)).as(look).isEqualTo(1);
            }
        }
    }

    /** Its reason is gone. Who still waits for it asks again, and waits for the later one. */
    @Test
    void anAttemptWithALaterOneIsOver() {
        // Given an exhausted draw, and a held cost
        TestDraws draws = new TestDraws(engines.get(0));
        Draw paid = draws.create("""
                {mode: table, whenExhausted: repeat, cost: {asset: POINTS, amount: 3},
                 prizes: [{name: a, count: 1, stock: 1}, {name: b, count: 1}]}
                """);
        draws.deposit("eve", TestDraws.POINTS, 100);
        assertThat(get(draws.play(0, paid, "eve", 2, key)).plays()).hasSize(2);
        var pool = engines.get(0).engine().pool();
        PlayRequestStore store = new PlayRequestStore(
                pool, new DrawCatalog(new DrawStore(pool)), 10, new PlayMetrics(new SimpleMeterRegistry()));
        draws.deposit("fay", TestDraws.POINTS, 100);
        PlayRequest request = PlayRequest.of(paid.id(), new UserId("fay"), key, 1);
        AttemptKey first = new AttemptKey(
                request.id(), get(store.hold(paid, request, Instant.now())).attempt(), paid.id());
        assertThat(get(store.decided(List.of(first)))).isEmpty();

        // When
        assertThat(get(draws.play(0, paid, "fay", 1, key)).kind()).isEqualTo(Kind.EXHAUSTED);

        // Then
        assertThat(get(store.decided(List.of(first))).get(first).reason()).isEqualTo("exhausted");

        // When
        assertThat(get(draws.play(0, paid, "fay", 1, key)).kind()).isEqualTo(Kind.EXHAUSTED);

        // Then
        assertThat(get(store.decided(List.of(first))).get(first).reason()).isEqualTo(PlayRequestStore.OVERTAKEN);
    }

    @Test
    void aRequestThatIsDecidedAndNotSettledIsNotDecidedAgain() throws Exception {
        Future<PlayOutcome> first;
        Future<PlayOutcome> second;
        try (Connection locked = TestDatabase.lock(servers.postgresOwnerUrl(), "player")) {
            // Given a play that is decided, and nobody who can settle
            first = play(0, "ann", key, TEN);
            eventually(
                    SOON,
                    () -> assertThat(books.hashField(0, "d:" + draw.id(), "#")).isEqualTo("10"));

            // When it is asked for at the other server
            second = play(1, "ann", key, TEN);
            eventually(
                    SOON,
                    () -> assertThat(engines.get(1).loop(0).services().plays.inFlight())
                            .isEqualTo(1));
            locked.rollback();
        }

        // Then
        assertThat(get(second).plays()).isEqualTo(get(first).plays());
        assertThat(settled()).hasSize(TEN);
        assertThat(voids()).isEqualTo(voids);
    }

    @Test
    void aSettledRequestIsFoundInPostgresThoughRedisForgotIt() {
        // Given
        PlayOutcome first = get(play(0, "bob", key, TEN));
        forget("bob");

        // When, Then
        for (int server = 0; server < 2; server++) {
            PlayOutcome again = get(play(server, "bob", key, TEN));
            assertThat(again.kind()).isEqualTo(Kind.ALREADY_PLAYED);
            assertThat(again.plays()).isEqualTo(first.plays());
        }
        assertThat(settled()).hasSize(TEN);
        assertThat(voids()).isEqualTo(voids);
    }

    private void forget(String user) {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.zrem(decided(), request(user).id().toString());
        }
    }

    private String decided() {
        return books.stamps().get(0) + ":attempts";
    }

    @Test
    void nobodyPlaysAndNothingIsReturnedWhenRedisLostWhatIsDecided() {
        // Given
        PlayOutcome first = get(play(0, "erin", key, TEN));
        long epochs = books.sumOfEpochs();
        get(engines.get(1).engine().stopWriter());
        get(engines.get(0).engine().stopWriter());

        // When Redis loses the set of decided attempts, and nobody recovers the shard yet
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.del(decided());
        }

        // Then no script decides
        UUID request = request("erin").id();
        assertThatThrownBy(() -> playByScript("erin")).hasMessageContaining("BROKEN " + decided());
        assertThatThrownBy(() -> new ShardScript(servers).giveBack(draw.id(), request, request, "erin"))
                .hasMessageContaining("BROKEN " + decided());

        // When a server that looked long ago asks, and the shard has an owner again
        engines.forEach(engine -> get(engine.engine().startWriter()));
        assertThat(get(play(1, "fred", key, 1)).kind()).isEqualTo(Kind.PLAYED);

        // Then
        assertThat(books.sumOfEpochs()).isGreaterThan(epochs);
        assertThat(get(play(1, "erin", key, TEN)).plays()).isEqualTo(first.plays());
        assertThat(voids()).isEqualTo(voids);
    }

    private String playByScript(String user) {
        UUID request = request(user).id();
        return new ShardScript(servers).play(draw.id(), request, request, user, TEN, false);
    }

    @Test
    void aRequestThatTheJournalHasTwiceIsSettledOnceAndItsPrizesReturnToTheStock() {
        // Given
        PlayOutcome first = get(play(0, "dora", key, TEN));
        long epochs = books.sumOfEpochs();

        // When Redis forgets it, and a server that looked long ago asks the script
        forget("dora");
        assertThat(playByScript("dora")).isEqualTo("+");

        // Then the second is void, and the next generation has its prizes
        eventually(SOON, () -> assertThat(voids()).isEqualTo(voids + 1));
        eventually(SOON, () -> assertThat(books.sumOfEpochs()).isGreaterThan(epochs));
        assertThat(settled()).isEqualTo(first.plays());
        eventually(
                SOON,
                () -> assertThat(books.hashField(0, "d:" + draw.id(), "#")).isEqualTo("10"));
    }
}
