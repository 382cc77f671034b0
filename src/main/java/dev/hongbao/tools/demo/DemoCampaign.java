package dev.hongbao.tools.demo;

import dev.hongbao.tools.demo.DemoClient.Answer;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * A campaign in the demo: a shop pays for pools that have a share for each member in all, a member has one, everybody races for all
 * pools at once, and what is left goes back to the shop. Call it on an event loop.
 */
final class DemoCampaign {
    private static final int POOLS = 4;
    private static final int SHARE = 20;
    private static final long LEFT = 1_000;
    private static final long POLL_MILLIS = 100;
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(15);
    private static final Duration LENGTH = Duration.ofHours(1);

    private final Vertx vertx;
    private final DemoClient client;
    private final DemoTally tally;
    private final String service;
    private final List<String> members;
    private final UnaryOperator<String> tokens;

    /**
     * @param service the backend's token
     * @param members as many as divide by {@link #POOLS}
     * @param tokens of members
     */
    DemoCampaign(
            Vertx vertx,
            DemoClient client,
            DemoTally tally,
            String service,
            List<String> members,
            UnaryOperator<String> tokens) {
        this.vertx = vertx;
        this.client = client;
        this.tally = tally;
        this.service = service;
        this.members = members;
        this.tokens = tokens;
    }

    /** Plays it to its end; what is wrong is in the tally. */
    Future<DemoResult.Campaign> run() {
        int shares = members.size() / POOLS;
        long budget = (long) SHARE * members.size() + LEFT;
        JsonObject definition = new JsonObject()
                .put("name", "Spring shoes")
                .put("asset", "CNY")
                .put("budget", budget)
                .put("endsAt", Instant.now().plus(LENGTH).toString())
                .put(
                        "pool",
                        new JsonObject()
                                .put("shares", shares)
                                .put("amount", SHARE * shares)
                                .put("split", "equal")
                                .put("livesSeconds", LENGTH.toSeconds()))
                .put("claiming", new JsonObject().put("total", 1));
        JsonObject money = new JsonObject().put("asset", "CNY").put("amount", budget);
        return client.post("/v1/accounts/backend/deposits", service, money)
                .compose(paid -> client.post("/v1/campaigns", service, definition))
                .compose(made -> {
                    tally.expect(201, made, "campaign");
                    String path = "/v1/campaigns/" + made.body().getString("id");
                    return open(path)
                            .compose(this::race)
                            .compose(winners -> end(path).map(returned -> result(winners, returned)));
                });
    }

    private Future<List<String>> open(String path) {
        List<Future<Answer>> openings = IntStream.range(0, POOLS)
                .mapToObj(i -> client.post(
                        path + "/pools",
                        tokens.apply(members.get(i)),
                        new JsonObject().put("product", "sku-" + i).put("group", DemoPlan.GROUP)))
                .toList();
        return Future.all(openings)
                .map(all -> openings.stream()
                        .map(opening -> {
                            tally.expect(201, opening.result(), "pool");
                            return opening.result().body().getString("id", "");
                        })
                        .toList());
    }

    /** Everybody claims on every pool. @return who has a share */
    private Future<List<String>> race(List<String> pools) {
        List<String> winners = new ArrayList<>();
        List<Future<Answer>> claims = new ArrayList<>();
        for (String member : members) {
            for (String pool : pools) {
                claims.add(client.post("/v1/packets/" + pool + "/claims", tokens.apply(member), null)
                        .onSuccess(answer -> {
                            tally.claimed(pool, member, answer);
                            if (answer.status() == 201) {
                                winners.add(member);
                            }
                        }));
            }
        }
        return Future.all(claims).map(winners);
    }

    private Future<Long> end(String path) {
        return client.post(path + "/end", service, null)
                .compose(ended -> awaitClosed(path, System.nanoTime() + CLOSE_LIMIT.toNanos()));
    }

    private Future<Long> awaitClosed(String path, long deadlineNanos) {
        return client.get(path, service).compose(view -> {
            if (view.body().getString("status", "").equals("closed")) {
                return Future.succeededFuture(view.body().getLong("returned"));
            }
            if (System.nanoTime() > deadlineNanos) {
                tally.fault("the campaign is not closed: " + view.body());
                return Future.succeededFuture(0L);
            }
            return vertx.timer(POLL_MILLIS, TimeUnit.MILLISECONDS).compose(later -> awaitClosed(path, deadlineNanos));
        });
    }

    private DemoResult.Campaign result(List<String> winners, long returned) {
        Set<String> different = new HashSet<>(winners);
        if (winners.size() != members.size() || different.size() != members.size()) {
            tally.fault("campaign: " + winners.size() + " claims of " + different.size()
                    + " members, expected one each of " + members.size());
        }
        if (returned != LEFT) {
            tally.fault("campaign: " + returned + " returned, expected " + LEFT);
        }
        return new DemoResult.Campaign(POOLS, winners.size(), returned);
    }
}
