package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.load.Api;
import dev.hongbao.tools.chaos.load.World;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;

/** What the host's backend makes before the faults: all of it is open for longer than a run. Its keys begin with {@code setup-}. */
final class Preparations {
    private static final long MONEY = 10_000_000;
    private static final long FIRST_MONEY = 50_000;
    private static final long RACE_MONEY = 100_000_000;
    private static final long PRIZES = 100_000;
    private static final long BUDGET = 4_000_000;

    private final Api api;
    private final String end = Instant.now().plus(Duration.ofDays(1)).toString();

    Preparations(Api api) {
        this.api = api;
    }

    /** Gives everybody money, who sends in one of the races, too, and itself. */
    void deposit(int races) throws IOException {
        api.make(0, "/v1/accounts/backend/deposits", "setup-deposit", money(MONEY));
        for (String user : World.users()) {
            deposit(user, FIRST_MONEY);
        }
        for (int race = 0; race < races; race++) {
            deposit(World.raceSender(race), RACE_MONEY);
        }
    }

    private void deposit(String user, long amount) {
        api.perform(new Call(Kind.DEPOSIT, user, "", "first-" + user, amount, 0));
    }

    /** Has all events sent to the URL. */
    void subscribe(String url) throws IOException {
        api.make(0, "/v1/webhooks", "setup-webhook", new JsonObject().put("url", url));
    }

    /** One that everybody plays, for money, with prizes enough. @return its id */
    String draw() throws IOException {
        JsonObject cash = new JsonObject()
                .put("name", "cash")
                .put("count", 1)
                .put("stock", PRIZES)
                .put("award", money(30));
        return made(
                "/v1/draws",
                "setup-draw",
                new JsonObject()
                        .put("name", "wheel")
                        .put("closesAt", end)
                        .put("mode", "table")
                        .put("whenExhausted", "repeat")
                        .put("cost", money(10))
                        .put(
                                "prizes",
                                new JsonArray()
                                        .add(cash)
                                        .add(new JsonObject()
                                                .put("name", "thanks")
                                                .put("count", 4))));
    }

    /** One whose pools live for seconds, and of which a user has some shares. @return its id */
    String campaign() throws IOException {
        JsonObject pool = new JsonObject().put("shares", 6).put("amount", 600).put("livesSeconds", 10);
        return made(
                "/v1/campaigns",
                "setup-campaign",
                new JsonObject()
                        .put("name", "shoes")
                        .put("asset", "CNY")
                        .put("budget", BUDGET)
                        .put("endsAt", end)
                        .put("pool", pool)
                        .put("claiming", new JsonObject().put("total", 15)));
    }

    private String made(String path, String key, JsonObject definition) throws IOException {
        return api.make(0, path, key, definition).getString("id");
    }

    private static JsonObject money(long amount) {
        return new JsonObject().put("asset", "CNY").put("amount", amount);
    }
}
