package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.check.Seen.Event;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** The webhook of the host's backend: takes most messages; some it refuses, answers late or not at all. Thread-safe. */
public final class WebhookReceiver implements AutoCloseable {
    private static final long SLOW_MILLIS = 300;
    private static final long LOOK_MILLIS = 100;
    private static final long LIMIT_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Vertx vertx = Vertx.vertx();
    private final HttpServer server;
    private final SplittableRandom random;
    private final List<Event> received = new ArrayList<>();
    private final Set<String> taken = new HashSet<>();
    private boolean takesAll;

    public WebhookReceiver(SplittableRandom random) {
        this.random = random;
        this.server = vertx.createHttpServer()
                .requestHandler(request -> request.body().onSuccess(body -> receive(request, body)))
                .listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .join();
    }

    public String url() {
        return "http://127.0.0.1:" + server.actualPort() + "/events";
    }

    private synchronized void receive(HttpServerRequest request, Buffer body) {
        List<Event> message = Api.events(body.toJsonObject().getJsonObject("data"));
        received.addAll(message);
        int dice = takesAll ? 0 : random.nextInt(100);
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

    private synchronized void take(HttpServerRequest request, List<Event> message) {
        message.forEach(each -> taken.add(each.id()));
        request.response().setStatusCode(204).end();
    }

    /** Takes everything from now on. */
    public synchronized void takeAll() {
        takesAll = true;
    }

    /** Waits until it has taken these, or nothing new for a minute. @return the ids of all taken events */
    public Set<String> await(List<Event> events) throws InterruptedException {
        Set<String> missing = new HashSet<>();
        events.forEach(each -> missing.add(each.id()));
        long until = System.nanoTime() + LIMIT_NANOS;
        while (true) {
            synchronized (this) {
                if (missing.removeAll(taken)) {
                    until = System.nanoTime() + LIMIT_NANOS;
                }
                if (missing.isEmpty() || System.nanoTime() - until > 0) {
                    return Set.copyOf(taken);
                }
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
    }

    /** Every event that arrived, taken or not. */
    public synchronized List<Event> received() {
        return List.copyOf(received);
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
