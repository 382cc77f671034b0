package dev.hongbao.tools.local;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.access.TokenTrust;
import dev.hongbao.config.HongbaoConfig;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Clock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Calls servers on loopback over HTTP/1.1. Thread-safe; blocking. */
public final class ApiClient {
    /** The server, or the server behind a proxy, is away. */
    private static final Set<Integer> AWAY = Set.of(502, 503, 504);

    /** Of a claim: not settled yet. Of another call: its answer. */
    private static final int ACCEPTED = 202;

    private static final long PAUSE_MILLIS = 100;

    private final Duration limit;
    private final HttpClient http;

    /** @param config of the server that accepts the tokens */
    public static TokenSigner signer(HongbaoConfig config) throws IOException {
        byte[] secret = TokenTrust.secret(config.web().token(), config.engine().tokenKeyFile());
        return new TokenSigner(secret, null, null, Clock.systemUTC());
    }

    /** @param limit of the connection, and of each answer */
    public ApiClient(Duration limit) {
        this.limit = limit;
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(limit)
                .build();
    }

    /**
     * @param key the idempotency key; empty for none
     * @param body null for none
     */
    public record Request(
            int port,
            String method,
            String path,
            String token,
            String key,
            @Nullable String body) {}

    /** @param body empty if the answer has none, or is of a proxy whose server is away */
    public record Answer(int status, boolean retryAfter, JsonObject body) {
        /** Last part of the problem's type; empty for a success. */
        public String problem() {
            String type = body.getString("type", "");
            return type.substring(type.lastIndexOf('/') + 1);
        }

        /** The body of a call that was done. @throws IOException if it was not */
        public JsonObject done() throws IOException {
            if (status != 200 && status != 201) {
                throw new IOException(status + " " + body);
            }
            return body;
        }
    }

    /**
     * Sends a request once.
     *
     * @throws DecodeException if the body is not a JSON object
     * @throws HttpTimeoutException after the limit
     * @throws IOException if there is no whole answer
     */
    public Answer call(Request request) throws IOException {
        HttpRequest.Builder builder = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + request.port + request.path))
                .header("Authorization", "Bearer " + request.token)
                .method(
                        request.method,
                        request.body == null
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(request.body));
        if (request.body != null) {
            builder.header("Content-Type", "application/json");
        }
        if (!request.key.isEmpty()) {
            builder.header("Idempotency-Key", request.key);
        }
        // The request's own timeout ends with the headers, not with the body.
        CompletableFuture<HttpResponse<String>> response =
                http.sendAsync(builder.build(), HttpResponse.BodyHandlers.ofString());
        try {
            return answer(await(response, limit));
        } finally {
            response.cancel(true); // closes the connection unless the answer is complete
        }
    }

    /**
     * Waits for a result over a network.
     *
     * @throws HttpTimeoutException after the limit
     * @throws IOException if it failed, or this thread is interrupted
     */
    public static <T> T await(CompletableFuture<T> result, Duration limit) throws IOException {
        try {
            return result.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            throw new HttpTimeoutException("no answer within " + limit);
        } catch (ExecutionException broken) {
            throw new IOException(broken.getCause());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException(stopped);
        }
    }

    private static Answer answer(HttpResponse<String> response) {
        String body = response.body();
        boolean isOfProxy = AWAY.contains(response.statusCode()) && !body.startsWith("{");
        return new Answer(
                response.statusCode(),
                response.headers().firstValue("Retry-After").isPresent(),
                body.isEmpty() || isOfProxy ? new JsonObject() : new JsonObject(body));
    }

    /**
     * Sends a request until its result is known, with the same key: the server may end meanwhile if another one serves.
     *
     * @throws IOException if there is no answer after the patience
     */
    public Answer callAgain(Request request, Duration patience) throws IOException, InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        while (true) {
            try {
                Answer answer = call(request);
                boolean isOpen =
                        AWAY.contains(answer.status) || answer.status == ACCEPTED && request.path.endsWith("/claims");
                if (!isOpen || System.nanoTime() - until > 0) {
                    return answer;
                }
            } catch (IOException broken) {
                if (System.nanoTime() - until > 0) {
                    throw broken;
                }
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
    }
}
