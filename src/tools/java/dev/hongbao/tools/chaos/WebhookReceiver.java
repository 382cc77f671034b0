package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.check.Told;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The host's backend as a webhook's receiver: mostly takes what comes, and sometimes fails, hangs up or is slow. Thread-safe. */
final class WebhookReceiver implements AutoCloseable {
    private static final long SLOW_MILLIS = 300;
    private static final long LOOK_MILLIS = 100;
    private static final long LIMIT_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Vertx vertx = Vertx.vertx();
    private final HttpServer server;
    private final SplittableRandom random;
    private final List<Told> told = new ArrayList<>();
    private final Set<String> taken = new HashSet<>();
    private boolean kind;

    WebhookReceiver(SplittableRandom random) {
        this.random = random;
        this.server = vertx.createHttpServer()
                .requestHandler(request -> request.body().onSuccess(body -> receive(request, body)))
                .listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .join();
    }

    String url() {
        return "http://127.0.0.1:" + server.actualPort() + "/events";
    }

    private synchronized void receive(HttpServerRequest request, Buffer body) {
        JsonArray items = body.toJsonObject().getJsonObject("data").getJsonArray("items");
        List<Told> message = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            message.add(OutboxFollower.told(items.getJsonObject(i)));
        }
        told.addAll(message);
        int dice = kind ? 0 : random.nextInt(100);
        if (dice < 80) {
            take(request, message);
        } else if (dice < 88) {
            request.response().setStatusCode(500).end();
        } else if (dice < 94) {
            request.connection().close();
        } else {
            vertx.setTimer(SLOW_MILLIS, later -> take(request, message));
        }
    }

    private synchronized void take(HttpServerRequest request, List<Told> message) {
        message.forEach(each -> taken.add(each.id()));
        request.response().setStatusCode(204).end();
    }

    /** From now on it takes everything. */
    synchronized void beKind() {
        kind = true;
    }

    /** Waits until it has taken all of these, or nothing more for a minute. */
    void await(List<Told> all) throws InterruptedException {
        Set<String> missing = all.stream().map(Told::id).collect(Collectors.toCollection(HashSet::new));
        long until = System.nanoTime() + LIMIT_NANOS;
        while (!missing.isEmpty() && System.nanoTime() < until) {
            if (forget(missing)) {
                until = System.nanoTime() + LIMIT_NANOS;
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
    }

    /** What it has taken. @return whether there was any */
    private synchronized boolean forget(Set<String> missing) {
        return missing.removeIf(taken::contains);
    }

    /** Everything that came, taken or not. */
    synchronized List<Told> told() {
        return List.copyOf(told);
    }

    /** The ids of all events that it has said it has. */
    synchronized Set<String> taken() {
        return Set.copyOf(taken);
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
