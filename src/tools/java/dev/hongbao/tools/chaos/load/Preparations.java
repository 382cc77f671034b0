package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Call.Kind;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;

/** The host's backend sets up a run: everything stays open for longer. Confined to one thread; blocking. */
public final class Preparations {
    /** The checker does not ask for the requests of these keys. */
    static final String KEY = "setup-";

    private static final long FIRST_MONEY = 50_000;
    private static final long RACE_MONEY = 100_000_000;

    private final Api api;
    private final String end = Instant.now().plus(Duration.ofDays(1)).toString();

    public Preparations(Api api) {
        this.api = api;
    }

    /** Gives money to the backend itself, all users and the senders of the races. */
    public void deposit(int races) throws IOException {
        make("/v1/accounts/backend/deposits", "deposit", "{\"asset\": \"CNY\", \"amount\": 10000000}");
        for (String user : Crowd.USERS) {
            deposit(user, FIRST_MONEY);
        }
        for (int race = 0; race < races; race++) {
            deposit(Race.sender(race), RACE_MONEY);
        }
    }

    private void deposit(String user, long amount) {
        api.perform(new Call(Kind.DEPOSIT, user, "", "first-" + user, amount, 0));
    }

    /** The webhook receives all events. */
    public void subscribe(String url) throws IOException {
        make("/v1/webhooks", "webhook", "{\"url\": \"" + url + "\"}");
    }

    /** A draw that costs money, with prizes enough. @return its id */
    public String draw() throws IOException {
        return make("/v1/draws", "draw", """
            {"name": "wheel", "closesAt": "%s", "mode": "table", "whenExhausted": "repeat",
             "cost": {"asset": "CNY", "amount": 10},
             "prizes": [
                {"name": "cash", "count": 1, "stock": 100000, "award": {"asset": "CNY", "amount": 30}},
                {"name": "thanks", "count": 4}]}
            """.formatted(end));
    }

    /** A campaign whose pools live for seconds, with a limit for each user. @return its id */
    public String campaign() throws IOException {
        return make("/v1/campaigns", "campaign", """
            {"name": "shoes", "asset": "CNY", "budget": 4000000, "endsAt": "%s",
             "pool": {"shares": 6, "amount": 600, "livesSeconds": 10},
             "claiming": {"total": 15}}
            """.formatted(end));
    }

    private String make(String path, String name, String body) throws IOException {
        return api.make(0, path, KEY + name, body).getString("id");
    }
}
