package dev.hongbao.tools.demo;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * What the parts of the demo play with.
 *
 * @param service the backend's token
 * @param tokens of members
 */
record DemoScene(
        Vertx vertx,
        DemoClient client,
        DemoTally tally,
        String service,
        List<String> members,
        UnaryOperator<String> tokens) {
    static final long POLL_MILLIS = 100;
    private static final Duration LIMIT = Duration.ofSeconds(15);

    /** Gives the backend money, and makes what it pays for. @return its path */
    Future<String> make(String path, JsonObject definition) {
        JsonObject money = new JsonObject().put("asset", "CNY").put("amount", definition.getLong("budget"));
        return client.post("/v1/accounts/backend/deposits", service, money)
                .compose(paid -> client.post(path, service, definition))
                .map(made -> {
                    tally.expect(201, made, path);
                    return path + "/" + made.body().getString("id");
                });
    }

    /** A member's claim. @return whether it won a share */
    Future<Boolean> claim(String packet, String member) {
        return client.post("/v1/packets/" + packet + "/claims", tokens.apply(member), null)
                .map(answer -> {
                    tally.claimed(packet, member, answer);
                    return answer.status() == 201;
                });
    }

    /** Waits until what was made has a status. @return minor units that were returned by then */
    Future<Long> returnedBy(String path, String status) {
        return returnedBy(path, status, System.nanoTime() + LIMIT.toNanos());
    }

    private Future<Long> returnedBy(String path, String status, long deadlineNanos) {
        return client.get(path, service).compose(view -> {
            if (view.body().getString("status", "").equals(status)) {
                return Future.succeededFuture(view.body().getLong("returned"));
            }
            if (System.nanoTime() > deadlineNanos) {
                tally.fault(path + " is not " + status + ": " + view.body());
                return Future.succeededFuture(0L);
            }
            return vertx.timer(POLL_MILLIS, TimeUnit.MILLISECONDS)
                    .compose(later -> returnedBy(path, status, deadlineNanos));
        });
    }
}
