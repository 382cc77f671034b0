package dev.hongbao.draw;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Gate;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.testing.ServerProcessClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/**
 * The server is killed (SIGKILL, the jar in a process of its own) before and after the settlement of a play. A lock that the test
 * holds keeps the step from being passed, so each is hit surely. After the next start the same key gives the same prizes, the cost
 * is paid once, and {@code reconcile} finds nothing.
 */
@ExtendWith(Servers.class)
class PlayCrashIT extends ServerProcessClient {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final int TEN = 10;
    private static final int COST = 3;
    private static final int MONEY = 1_000;

    /** What a test leaves running is the next one's. */
    private static ServerProcess server;

    private TestServers stores;
    private Books books;
    private String draw;

    @BeforeEach
    void start(@Killable TestServers given) throws Exception {
        stores = given;
        books = new Books(given);
        if (server == null || !server.alive()) {
            startServer();
        }
        base = server.awaitReady();
        money("ann", "deposits", MONEY, name("in"), 201);
        json(post(null, "/v1/accounts/" + name("shop") + "/deposits", name("in"), cny(1_000_000)), 201);
        draw = json(post(null, "/v1/draws", name("draw"), new JsonObject("""
                        {"name": "crash", "closesAt": "2035-01-01T00:00:00Z", "mode": "table", "whenExhausted": "repeat",
                         "cost": {"asset": "CNY", "amount": 3}, "limits": {"total": 100000},
                         "prizes": [{"name": "gold", "count": 5, "stock": 5000, "award": {"asset": "CNY", "amount": 7}},
                                    {"name": "silver", "count": 15}, {"name": "nothing", "count": 30}]}
                        """)), 201)
                .getString("id");
    }

    @AfterAll
    static void stop() {
        server.close();
        server = null;
    }

    private void startServer() {
        server = serve(stores, "server");
        base = server.awaitReady();
    }

    private HttpResponse<String> play(String user, String key) throws Exception {
        return post(user, "/v1/draws/" + draw + "/plays", key, new JsonObject().put("plays", TEN));
    }

    /** A play whose answer nobody will ever hear. */
    private void playInVain() {
        CompletableFuture.runAsync(() -> {
            try {
                play("ann", "key");
            } catch (Exception killed) {
                // the server is gone
            }
        });
    }

    private static void until(String what, Condition condition) {
        Eventually.eventually(SOON, () -> assertThat(condition.holds()).as(what).isTrue());
    }

    private long count(String table) {
        return books.longOf("select count(*) from " + table + " where draw = '" + draw + "'");
    }

    /** Whether a statement of the server waits for a lock or at a gate; its own role sees what it runs. */
    private boolean waits(String function) throws Exception {
        try (Connection app = TestDatabase.connect(stores.postgresAppUrl());
                Statement look = app.createStatement();
                var rows = look.executeQuery("select from pg_stat_activity where wait_event_type in ('Lock', 'Timeout')"
                        + " and datname = current_database() and query like '%" + function + "(%'")) {
            return rows.next();
        }
    }

    /** The journal's words for what was decided of the draw and is not settled: nothing when it is. */
    private List<String> decided() {
        try (Jedis redis = new Jedis(URI.create(stores.redisUrl()))) {
            return books.journalKeys().stream()
                    .flatMap(key -> redis.xrange(key, "-", "+").stream())
                    .flatMap(entry -> entry.getFields().values().stream())
                    .filter(item -> item.startsWith(draw))
                    .toList();
        }
    }

    /** The prizes' numbers in a journal's item. */
    private static List<Integer> prizesOf(String item) {
        return Stream.of(item.split(" ")[6].split(","))
                .map(prize -> Integer.valueOf(prize.split(":")[0]))
                .toList();
    }

    private static List<Integer> prizesOf(JsonObject plays) {
        return items(plays).stream().map(play -> play.getInteger("number")).toList();
    }

    /** The key's plays, asked for until they are known, twice; paid once. */
    private JsonObject assertPlayedOnce() {
        JsonObject first = Eventually.eventuallyGet(SOON, () -> {
            HttpResponse<String> answer = play("ann", "key");
            assertThat(answer.statusCode()).as(answer.body()).isIn(200, 201);
            return new JsonObject(answer.body());
        });
        Eventually.eventually(
                SOON, () -> assertThat(json(play("ann", "key"), 200)).isEqualTo(first));
        long won = items(first).stream()
                .mapToLong(play -> play.getLong("amount", 0L))
                .sum();
        Eventually.eventually(SOON, () -> assertThat(balance("ann")).isEqualTo(MONEY - TEN * COST + won));
        assertThat(count("play")).isEqualTo(TEN);
        books.assertReconciled();
        return first;
    }

    @Test
    void aPlayKilledBetweenScriptAndSettlementKeepsItsPrizes() throws Exception {
        // Given a play that is decided; when the server is killed, and its settlement with it
        List<Integer> decided = killedWhenSettlementIsHeld(
                "the play is decided", () -> decided().size() == 1, () -> books.breakConnections(false));
        assertThat(count("play")).isZero();

        // Then
        startServer();
        assertThat(prizesOf(assertPlayedOnce())).isEqualTo(decided);
    }

    @Test
    void aPlayKilledBetweenSettlementAndAnswerIsPlayedOnce() throws Exception {
        // Given a settlement that waits; when the server is killed, and Postgres commits what nobody hears of
        List<Integer> decided =
                killedWhenSettlementIsHeld("the settlement waits", () -> waits("settle_plays"), () -> {});
        until("it is settled", () -> count("play") == TEN);
        assertThat(decided()).as("still in the journal").hasSize(1);

        // Then
        startServer();
        assertThat(prizesOf(assertPlayedOnce())).isEqualTo(decided);
        Eventually.eventually(SOON, books::assertJournalsEmpty);
    }

    /** Holds the settlement while ann plays, until the server is killed. @return the prizes in the journal */
    private List<Integer> killedWhenSettlementIsHeld(String what, Condition reached, Runnable then) throws Exception {
        try (Gate held = new Gate(stores.postgresOwnerUrl(), "play")) {
            playInVain();
            until(what, reached);
            List<Integer> decided = prizesOf(decided().get(0));
            server.kill();
            then.run();
            return decided;
        }
    }
}
