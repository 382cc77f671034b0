package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.hongbao.testing.Eventually;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;

/** A host application that receives the outbox's events, well or badly, by a server that is not ours (the JDK's). */
public final class HookReceiver implements AutoCloseable {
    static final Duration SOON = Duration.ofSeconds(20);

    private static final long SLOW_MILLIS = 200;
    private static final InetSocketAddress ANYWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final HttpServer server;
    private final String scheme;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch closed = new CountDownLatch(1);

    /** Every attempt that came, whatever it was answered. */
    final List<Message> attempts = new CopyOnWriteArrayList<>();

    /** Those that were answered 204. */
    final List<Message> taken = new CopyOnWriteArrayList<>();

    public volatile Manner manner = Manner.TAKES;

    /** The status and {@code Retry-After} of {@link Manner#WANTS_A_PAUSE}. */
    volatile Pause pause = new Pause(503, "1");

    record Pause(int status, String retryAfter) {}

    /** How it answers. */
    public enum Manner {
        TAKES,
        FAILS,
        IS_GONE,
        /** As above, but not soon. */
        IS_GONE_SLOWLY,
        WANTS_A_PAUSE,
        REDIRECTS,
        NEVER_ANSWERS,
        HANGS_UP,
        NEVER_ENDS
    }

    /** A message as it came. @param atNanos when, as {@link System#nanoTime} */
    record Message(Map<String, List<String>> headers, String body, long atNanos) {
        String header(String name) {
            return headers.entrySet().stream()
                    .filter(each -> each.getKey().equalsIgnoreCase(name))
                    .findFirst()
                    .orElseThrow()
                    .getValue()
                    .get(0);
        }

        /** As the library of the specification does. */
        boolean isSignedBy(String secret) {
            try {
                new Webhook(secret).verify(body, headers);
                return true;
            } catch (WebhookVerificationException | com.standardwebhooks.exceptions.EmptyWebhookSecretException not) {
                return false;
            }
        }

        String gap() {
            return data().getString("gap");
        }

        private JsonObject data() {
            return new JsonObject(body).getJsonObject("data");
        }

        List<JsonObject> items() {
            return data().getJsonArray("items").stream()
                    .map(JsonObject.class::cast)
                    .toList();
        }
    }

    public HookReceiver() throws IOException {
        this(HttpServer.create(ANYWHERE, 100), "http");
    }

    /** One that speaks TLS only. */
    static HookReceiver secure(SSLContext context) throws IOException {
        HttpsServer server = HttpsServer.create(ANYWHERE, 100);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        return new HookReceiver(server, "https");
    }

    private HookReceiver(HttpServer server, String scheme) {
        this.server = server;
        this.scheme = scheme;
        server.createContext("/", this::answer);
        server.setExecutor(threads);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    public String url() {
        return scheme + "://127.0.0.1:" + port() + "/hook?of=hongbao";
    }

    /** What a host asks for to be told of these types here; of all without any. */
    JsonObject webhook(String... types) {
        JsonObject webhook = new JsonObject().put("url", url());
        return types.length == 0 ? webhook : webhook.put("types", new JsonArray(List.of(types)));
    }

    private void answer(HttpExchange exchange) throws IOException {
        if (exchange.getRequestURI().getPath().equals("/elsewhere")) {
            end(exchange, 204); // who followed a redirect would take this for an answer
            return;
        }
        Manner now = manner; // before anybody sees that it has come
        Message message = new Message(
                Map.copyOf(exchange.getRequestHeaders()),
                new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8),
                System.nanoTime());
        attempts.add(message);
        assertThat(exchange.getRequestMethod()).isEqualTo("POST");
        switch (now) {
            case TAKES -> {
                taken.add(message);
                end(exchange, 204);
            }
            case FAILS -> end(exchange, 500);
            case WANTS_A_PAUSE -> {
                exchange.getResponseHeaders().add("Retry-After", pause.retryAfter);
                end(exchange, pause.status);
            }
            case IS_GONE -> end(exchange, 410);
            case IS_GONE_SLOWLY -> {
                awaitClose(SLOW_MILLIS);
                end(exchange, 410);
            }
            case REDIRECTS -> {
                exchange.getResponseHeaders().add("Location", "/elsewhere");
                end(exchange, 303);
            }
            case NEVER_ANSWERS -> {
                awaitClose(Long.MAX_VALUE);
                exchange.close();
            }
            case HANGS_UP -> exchange.close();
            case NEVER_ENDS -> {
                exchange.sendResponseHeaders(200, 0);
                exchange.getResponseBody().write(1);
                exchange.getResponseBody().flush();
                awaitClose(Long.MAX_VALUE);
                exchange.close();
            }
        }
    }

    private static void end(HttpExchange exchange, int status) throws IOException {
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    private void awaitClose(long mostMillis) {
        try {
            var unused = closed.await(mostMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** What it has taken about something, in the order in which it came. */
    List<JsonObject> about(String what) {
        List<JsonObject> items = new ArrayList<>();
        taken.forEach(message -> message.items().stream()
                .filter(item -> item.encode().contains(what))
                .forEach(items::add));
        return items;
    }

    public List<JsonObject> untilTaken(String what, int items) {
        Eventually.eventually(SOON, () -> assertThat(about(what)).hasSizeGreaterThanOrEqualTo(items));
        return about(what);
    }

    void untilAttempted(int times) {
        Eventually.eventually(SOON, () -> assertThat(attempts).hasSizeGreaterThanOrEqualTo(times));
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
        threads.shutdownNow();
    }
}
