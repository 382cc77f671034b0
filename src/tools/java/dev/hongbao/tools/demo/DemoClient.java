package dev.hongbao.tools.demo;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.json.JsonObject;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The API over real connections, as a host application would call it: a request whose connection breaks, or of which nobody can say what
 * became of it, is made again, with its idempotency key. So a server may be killed meanwhile, where there is another one.
 * Confined to its event loop.
 */
final class DemoClient {
    /** The same request is to come again: the server, or a proxy's, is away. */
    private static final Set<Integer> AWAY = Set.of(502, 503, 504);

    /** Of a claim: it is not settled yet, and is to come again. Of another call it is the answer. */
    private static final int ACCEPTED = 202;

    private static final long AGAIN_MILLIS = 100;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private static final int CONNECTIONS = 64;
    private static final int MAX_WAITING = 100_000;

    private final Vertx vertx;
    private final HttpClient http;
    private final int port;

    DemoClient(Vertx vertx, int port) {
        this.vertx = vertx;
        this.http = vertx.createHttpClient(
                new HttpClientOptions().setKeepAlive(true),
                new PoolOptions().setHttp1MaxSize(CONNECTIONS).setMaxWaitQueueSize(MAX_WAITING));
        this.port = port;
    }

    /**
     * What the server said.
     *
     * @param nanos from the call to the whole answer, the last one
     */
    record Answer(int status, JsonObject body, long nanos) {
        /** The last part of a problem's type; empty for a success. */
        String problem() {
            String type = body.getString("type", "");
            return type.substring(type.lastIndexOf('/') + 1);
        }
    }

    Future<Answer> post(String path, String token, @Nullable JsonObject body) {
        return call(HttpMethod.POST, path, token, body);
    }

    Future<Answer> get(String path, String token) {
        return call(HttpMethod.GET, path, token, null);
    }

    private Future<Answer> call(HttpMethod method, String path, String token, @Nullable JsonObject body) {
        RequestOptions options = new RequestOptions()
                .setMethod(method)
                .setHost("127.0.0.1")
                .setPort(port)
                .setURI(path)
                .putHeader("Authorization", "Bearer " + token);
        if (body != null) {
            options.putHeader("Content-Type", "application/json")
                    .putHeader("Idempotency-Key", UUID.randomUUID().toString());
        }
        return attempt(options, body, System.nanoTime());
    }

    private Future<Answer> attempt(RequestOptions options, @Nullable JsonObject body, long begunNanos) {
        Promise<Answer> last = Promise.promise();
        http.request(new RequestOptions(options))
                .compose(request -> body == null ? request.send() : request.send(body.toBuffer()))
                .compose(response -> response.body().map(bytes -> {
                    int status = response.statusCode();
                    JsonObject said = AWAY.contains(status) ? new JsonObject() : json(bytes);
                    return new Answer(status, said, System.nanoTime() - begunNanos);
                }))
                .onComplete(done -> {
                    boolean isOpen = done.failed()
                            || isOpen(options.getURI(), done.result().status());
                    if (isOpen && System.nanoTime() - begunNanos < PATIENCE_NANOS) {
                        vertx.setTimer(
                                AGAIN_MILLIS,
                                later -> attempt(options, body, begunNanos).onComplete(last));
                    } else {
                        last.handle(done);
                    }
                });
        return last.future();
    }

    private static boolean isOpen(String path, int status) {
        return AWAY.contains(status) || (status == ACCEPTED && path.endsWith("/claims"));
    }

    private static JsonObject json(Buffer bytes) {
        return bytes.length() == 0 ? new JsonObject() : new JsonObject(bytes);
    }

    Future<Void> close() {
        return http.close();
    }
}
