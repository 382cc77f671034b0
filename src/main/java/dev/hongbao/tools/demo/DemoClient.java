package dev.hongbao.tools.demo;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.json.JsonObject;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The API over real connections, as a host application would call it. */
final class DemoClient {
    private static final int CONNECTIONS = 64;
    private static final int MAX_WAITING = 100_000;

    private final HttpClient http;
    private final int port;

    DemoClient(Vertx vertx, int port) {
        this.http = vertx.createHttpClient(
                new HttpClientOptions().setKeepAlive(true),
                new PoolOptions().setHttp1MaxSize(CONNECTIONS).setMaxWaitQueueSize(MAX_WAITING));
        this.port = port;
    }

    /**
     * What the server said.
     *
     * @param nanos from the call to the whole answer
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
        long begun = System.nanoTime();
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
        return http.request(options)
                .compose(request -> body == null ? request.send() : request.send(body.toBuffer()))
                .compose(response -> response.body()
                        .map(bytes -> new Answer(response.statusCode(), json(bytes), System.nanoTime() - begun)));
    }

    private static JsonObject json(Buffer bytes) {
        return bytes.length() == 0 ? new JsonObject() : new JsonObject(bytes);
    }

    Future<Void> close() {
        return http.close();
    }
}
