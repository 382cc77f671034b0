package dev.hongbao.reconcile;

import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.server.Operations;
import dev.hongbao.store.redis.MessagePack;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import io.vertx.core.Future;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.resps.Tuple;

/** The audit finds what is wrong with draws: each check is seen failing on forged books, and Redis is held to Postgres. */
class DrawReconciliationIT extends ChecksContract {
    private static final Duration SOON = Duration.ofSeconds(15);

    private Books books;
    private Draw open;
    private Draw closed;
    private Draw scheduled;

    /** Nobody plays these; the first has a schedule. */
    private List<Draw> quiet;

    DrawReconciliationIT() {
        super(
                DrawChecks.ALL,
                Stream.of("transfer", "play", "draw")
                        .map(table -> "alter table " + table + " disable trigger user")
                        .toList());
    }

    @Override
    void writeBooks(TestEngine engine) {
        books = new Books(servers());
        TestDraws draws = new TestDraws(engine);
        draws.deposit("shop", CNY, 1_000_000);
        draws.deposit("bob", POINTS, 1_000);
        draws.deposit("carol", POINTS, 1_000);
        open = draws.create(paid("open"));
        closed = draws.create(paid("closed"));
        for (Draw draw : List.of(open, closed)) {
            get(draws.play(0, draw, "bob", 10, newKey()));
            get(draws.play(0, draw, "bob", 3, newKey()));
        }
        get(draws.play(0, closed, "carol", 1, newKey()));
        scheduled = draws.create("""
                {mode: schedule, schedule: {periodSeconds: 3600}, prizes: [{name: a, quota: 2500, stock: 100000}],
                 fallback: {name: b}}
                """);
        quiet = List.of(
                draws.create(
                        "{mode: schedule, schedule: {periodSeconds: 3600}, prizes: [{name: a, quota: 1, stock: 9}],"
                                + " fallback: {name: b}}"),
                draws.create("{mode: weights, prizes: [{name: a, weight: 1, stock: 9}], fallback: {name: b}}"),
                draws.create("{mode: weights, prizes: [{name: a, weight: 1, stock: 9}], fallback: {name: b}}"));
        Eventually.eventually(
                SOON,
                () -> assertThat(get(draws.play(0, scheduled, "bob", 10, newKey()))
                                .plays())
                        .anyMatch(play -> play.number() == 1));
        get(engine.loop(0).call(services -> services.draws.close(TestDraws.SERVICE, closed.id())));
        Eventually.eventually(
                SOON,
                () -> assertThat(books.longOf("select count(*) from draw where closed_at is not null"))
                        .isEqualTo(1));
    }

    private static String paid(String name) {
        return """
                name: %s
                mode: table
                whenExhausted: repeat
                cost: {asset: POINTS, amount: 2}
                limits: {total: 1000}
                prizes: [{name: cash, count: 1, stock: 100, award: {asset: CNY, amount: 5}}, {name: nothing, count: 4}]
                """.formatted(name);
    }

    /** Of a draw each. */
    private static final List<String> FORGED_DEFINITIONS = List.of(
            "update draw set seed = set_byte(seed, 0, 255 - get_byte(seed, 0)) where id = '%s'",
            "update draw set commitment = set_byte(commitment, 0, 255 - get_byte(commitment, 0)) where id = '%s'",
            "update draw set definition = jsonb_set(definition, '{name}', '\"other\"') where id = '%s'",
            "update prize set stock = stock + 1 where n = 1 and draw = '%s'",
            "update prize set name = 'car' where n = 1 and draw = '%s'",
            "update prize set announced = not announced where n = 1 and draw = '%s'");

    @Test
    void whatIsNotOfADrawsSeedAndDefinitionIsFound() throws Exception {
        // Given
        books.execute("create table kept as select id, seed, commitment, definition from draw;"
                + " create table kept_prize as select draw, n, stock, name, announced from prize");
        List<Draw> forged = List.of(closed, scheduled, open, quiet.get(0), quiet.get(1), quiet.get(2));
        for (int i = 0; i < forged.size(); i++) {
            books.execute(FORGED_DEFINITIONS.get(i).formatted(forged.get(i).id()));
        }

        // When
        List<Finding> findings = Operations.reconcile(TestEngine.stores(servers()), finding -> {});

        // Then
        books.execute("update draw as d set seed = k.seed, commitment = k.commitment, definition = k.definition"
                + " from kept as k where k.id = d.id; drop table kept;"
                + " update prize as z set stock = k.stock, name = k.name, announced = k.announced"
                + " from kept_prize as k where k.draw = z.draw and k.n = z.n; drop table kept_prize");
        assertThat(findings)
                .filteredOn(finding -> finding.name().startsWith("the seed and the definition"))
                .singleElement()
                .satisfies(finding -> assertThat(finding.lines())
                        .extracting(line -> line.split(": ")[0])
                        .containsExactlyInAnyOrderElementsOf(
                                forged.stream().map(draw -> "draw " + draw.id()).toList()));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            no prize is issued more | alter table prize drop constraint prize_in_stock; update prize set issued = stock + 1 where stock < 1000
            a prize's issued number | delete from play where seq = 4
            a prize's issued number | update prize set issued = issued - 1 where issued > 0
            in every round of a table | update play set round = 1
            in every round of a table | update play set round = 7 where seq = 0
            a prize's issued number | update play set nth = nth + 1000000 where prize = 2 and nth = 1; update play set nth = 1 where prize = 2 and nth = 2; update play set nth = 2 where nth = 1000001
            a request is played | delete from play where part = 4
            a request is played | update play set part = 20 where part = 2
            a request is played | update play set user_id = 'eve' where part = 2
            a request is played | update play set seq = seq + 100000 where part = 2
            a request is played | insert into play_request (id, draw, user_id, plays, cost, attempt, status) select distinct on (request) request, draw, user_id, 10, 20, request, 'held' from play
            a request is played | update play set at = at + interval '1 hour'
            a request is played | update draw set opens_at = closes_at - interval '1 second'
            a user pays | update account set balance = balance + 1 where kind = 'hold'
            a user pays | insert into play_request (id, draw, user_id, plays, cost, attempt, status, decided_at) select id, id, 'bob', 10, 1, id, 'returned', now() from draw where cost > 0
            a user pays | update transfer set amount = amount + 1 where kind = 'cost'
            a user pays | delete from transfer where kind = 'cost'
            a user pays | update play set user_id = 'eve' where seq = 2
            the owner of a draw | update transfer set debit = (select id from account where kind = 'wallet' and owner = 'bob' and asset = 'CNY') where kind = 'fund'
            the owner of a draw | update transfer set credit = (select id from account where kind = 'wallet' and owner = 'bob' and asset = 'CNY') where kind = 'refund'
            the owner of a draw | update transfer set credit = (select id from account where kind = 'wallet' and owner = 'bob' and asset = 'POINTS') where kind = 'proceeds'
            the escrows hold | update account set balance = balance + 1 where kind = 'escrow'
            every won amount | delete from transfer where kind = 'award'
            every won amount | update transfer set amount = amount + 1 where kind = 'award'
            every won amount | update transfer set credit = (select id from account where kind = 'wallet' and owner = 'bob' and asset = 'POINTS') where kind = 'award' and credit = (select id from account where kind = 'wallet' and owner = 'bob' and asset = 'CNY')
            a schedule takes | update prize set planned = planned + 1 where planned > 0
            a schedule takes | update release set moment = moment + interval '1 day'
            a schedule takes | update release set withdrawn = true
            a schedule takes | update release set moment = moment + interval '1 day'; update play set at = at + interval '2 days'
            the final table | update draw set final_table = jsonb_set(final_table, '{prizes,0,issued}', '99') where closed_at is not null
            the final table | update draw set final_table = jsonb_set(final_table, '{checked}', 'false') where closed_at is not null
            the final table | update draw set final_table = jsonb_set(final_table, '{prizes}', '[]') where closed_at is not null
            the final table | update draw set final_table = jsonb_set(final_table, '{prizes,0,left}', '0') where closed_at is not null
            the final table | update prize set stock = stock + 1 where stock is not null
            no draw stays open | update draw set opens_at = opens_at - interval '1 day', closes_at = now() - interval '11 seconds' where closed_at is null
            a user's counters | update player set counters[1] = counters[1] + 1
            a user's counters | delete from player where user_id = 'carol'
            """, quoteCharacter = '"')
    void forgedBooksAreFound(String name, String forgery) throws Exception {
        assertFound(name, forgery);
    }

    private String key(Draw draw, String kind) {
        return books.stamps().get(draw.shard()) + ":" + kind + ":" + draw.id();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** In one audit, since it looks for two seconds whether a difference stays. */
    @Test
    void whatOnlyRedisKnowsOfADrawIsFound() {
        String draw = "draw " + open.id();
        try (Jedis redis = new Jedis(URI.create(servers().redisUrl()))) {
            // Given wrong counts of the open draw, a release too many, one in place of another, and a lost draw
            byte[] key = bytes(key(open, "d"));
            Map<byte[], byte[]> before = redis.hgetAll(key);
            Map.of(
                            "#", bytes("14"),
                            "=", MessagePack.array(List.of(3L, new long[] {0, 2}, new long[] {96, -1})),
                            "bob", bytes("12,0,12"),
                            "mallory", bytes("1,0,1"))
                    .forEach((field, value) -> redis.hset(key, bytes(field), value));
            redis.zadd(key(quiet.get(0), "m"), 0, "0:1:99999");
            Tuple one = redis.zrangeWithScores(key(scheduled, "m"), -1, -1).get(0);
            redis.zrem(key(scheduled, "m"), one.getElement());
            redis.zadd(key(scheduled, "m"), 0, "0:1:99999");
            redis.rename(key(quiet.get(1), "d"), key(quiet.get(1), "x"));

            // When
            List<String> found = audit();

            // Then
            assertThat(found)
                    .hasSize(7)
                    .anyMatch(line -> line.contains(draw) && line.contains("counts 14 plays"))
                    .anyMatch(line -> line.contains(draw) && line.contains("left of the stocks"))
                    .anyMatch(line -> line.contains(draw) && line.contains("user bob"))
                    .anyMatch(line -> line.contains(draw) && line.contains("remembers 2 users"))
                    .anyMatch(line -> line.contains("draw " + quiet.get(0).id()) && line.contains("lacks 0 of them"))
                    .anyMatch(line -> line.contains("draw " + scheduled.id()) && line.contains("lacks 1 of them"))
                    .anyMatch(line -> line.contains("draw " + quiet.get(1).id()) && line.contains("lacks it"));
            redis.del(key);
            redis.hset(key, before);
            redis.zrem(key(quiet.get(0), "m"), "0:1:99999");
            redis.zrem(key(scheduled, "m"), "0:1:99999");
            redis.zadd(key(scheduled, "m"), one.getScore(), one.getElement());
            redis.rename(key(quiet.get(1), "x"), key(quiet.get(1), "d"));
        }
        assertThat(audit()).isEmpty();
    }

    @Test
    void aScheduleIsReadInPages() throws Exception {
        try (Jedis redis = new Jedis(URI.create(servers().redisUrl()))) {
            // Given a long one, and a Redis that closes who is sent much at once
            assertThat(redis.zcard(key(scheduled, "m"))).isGreaterThan(2_000);
            String option = "client-output-buffer-limit";
            String before = redis.configGet(option).get(option);
            redis.configSet(option, "normal 32768 0 0");
            try {
                // When, then
                assertThat(audit()).isEmpty();
            } finally {
                redis.configSet(option, before);
            }
        }
    }

    @Test
    void whatTheJournalHoldsCountsAsWell() throws Exception {
        try (TestEngine engine = TestEngine.start(servers(), 1, Map.of());
                Connection owner = TestDatabase.lockRows(servers().postgresOwnerUrl(), "shard")) {
            // Given plays that are decided and cannot be settled
            TestDraws draws = new TestDraws(engine);
            List<Future<PlayOutcome>> waiting = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                waiting.add(draws.play(0, open, "bob", 4, newKey()));
                waiting.add(draws.play(0, scheduled, "bob", 4, newKey()));
            }
            String before = books.strings("select count(*) from play").get(0);
            Eventually.eventually(
                    SOON,
                    () -> assertThat(books.hashField(open.shard(), "d:" + open.id(), "#"))
                            .isEqualTo("25"));

            // When, then
            assertThat(audit()).isEmpty();
            assertThat(books.strings("select count(*) from play")).containsExactly(before);
            owner.rollback();
            waiting.forEach(Future::otherwiseEmpty);
            Eventually.eventually(SOON, books::assertJournalsEmpty);
        }
        // The other tests' books: as they were, but for twelve plays more
        assertThat(audit()).isEmpty();
    }
}
