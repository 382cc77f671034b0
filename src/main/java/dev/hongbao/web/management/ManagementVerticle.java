package dev.hongbao.web.management;

import dev.hongbao.web.page.PageFiles;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.time.Clock;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * {@code /health/live}, {@code /health/ready}, {@code /metrics}, and the operator's page with its numbers. Without a token: bind it to loopback or to a network
 * that only operators reach. On loopback it answers only under loopback's names, so that no web page that the operator looks at
 * can read it by pointing a name of its own here (DNS rebinding). One instance.
 */
public final class ManagementVerticle extends VerticleBase {
    private static final long SAMPLE_MILLIS = 1_000;
    private static final int IDLE_SECONDS = 30;
    private static final int MAX_HEADER_BYTES = 4 * 1024;
    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String LOOPBACK = "localhost|127(\\.[0-9]{1,3}){3}|\\[?::1]?";

    /** A Host header: a tunnel to loopback may have another port. */
    private static final Pattern LOOPBACK_HOST = Pattern.compile("(?i)(" + LOOPBACK + ")(:[0-9]{1,5})?");

    private final String host;
    private final int port;
    private final HealthChecks readiness;
    private final PrometheusMeterRegistry metrics;
    private final IntConsumer listening;
    private final boolean onLoopback;
    private final PageFiles page = PageFiles.operator();
    private final RecentNumbers recent;

    @SuppressWarnings("NullAway.Init") // set by start
    private HttpServer server;

    /**
     * @param port 0 = a free one
     * @param listening told the port once it is bound
     */
    public ManagementVerticle(
            String host, int port, HealthChecks readiness, PrometheusMeterRegistry metrics, IntConsumer listening) {
        this.host = host;
        this.port = port;
        this.readiness = readiness;
        this.metrics = metrics;
        this.listening = listening;
        this.onLoopback = host.matches("(?i)" + LOOPBACK);
        this.recent = new RecentNumbers(metrics, Clock.systemUTC());
    }

    @Override
    public Future<?> start() {
        server = vertx.createHttpServer(new HttpServerOptions()
                        .setHost(host)
                        .setPort(port)
                        .setHttp2ClearTextEnabled(false)
                        .setMaxHeaderSize(MAX_HEADER_BYTES)
                        .setIdleTimeout(IDLE_SECONDS)
                        .setIdleTimeoutUnit(TimeUnit.SECONDS))
                .requestHandler(this::answer);
        recent.sample();
        vertx.setPeriodic(SAMPLE_MILLIS, tick -> recent.sample());
        return server.listen().map(bound -> {
            listening.accept(bound.actualPort());
            return bound;
        });
    }

    @Override
    public Future<?> stop() {
        return server.shutdown(1, TimeUnit.SECONDS);
    }

    private void answer(HttpServerRequest request) {
        if (onLoopback && !isForLoopback(request)) {
            send(request, 421, TEXT, "on loopback this is only at http://127.0.0.1 or http://localhost\n");
            return;
        }
        if (!request.method().equals(HttpMethod.GET)) {
            request.response().putHeader("Allow", "GET");
            send(request, 405, TEXT, "only GET\n");
            return;
        }
        switch (String.valueOf(request.path())) {
            case "/health/live" -> send(request, 200, JSON, "{\"status\":\"UP\"}");
            case "/health/ready" ->
                readiness
                        .ask()
                        .onSuccess(report -> send(request, report.isUp() ? 200 : 503, JSON, report.toJson()))
                        .onFailure(fault -> send(request, 503, JSON, "{\"status\":\"DOWN\"}"));
            case "/metrics" ->
                // Rendering walks all meters; a few milliseconds that an event loop should not spend.
                vertx.<String>executeBlocking(metrics::scrape)
                        .onSuccess(text -> send(request, 200, "text/plain; version=0.0.4; charset=utf-8", text))
                        .onFailure(fault -> send(request, 500, TEXT, "no metrics\n"));
            case "/recent.json" -> send(request, 200, JSON, recent.toJson(after(request.getParam("after"))));
            default -> sendFile(request, page.find(String.valueOf(request.path())));
        }
    }

    /** A browser always names a host; a load balancer's check may not. */
    private static boolean isForLoopback(HttpServerRequest request) {
        String named = request.headers().get(HttpHeaders.HOST);
        return named == null || LOOPBACK_HOST.matcher(named).matches();
    }

    /** What is no number means from the beginning. */
    private static long after(@Nullable String text) {
        return text != null && text.matches("[0-9]{1,15}") ? Long.parseLong(text) : 0;
    }

    private static void sendFile(HttpServerRequest request, PageFiles.@Nullable PageFile file) {
        if (file == null) {
            send(request, 404, TEXT, "/, /health/live, /health/ready, /metrics\n");
            return;
        }
        request.response()
                .putHeader("Content-Type", file.type())
                .putHeader("Cache-Control", "no-cache")
                .putHeader("Content-Security-Policy", PageFiles.POLICY)
                .putHeader("X-Content-Type-Options", "nosniff");
        var unused = request.response().end(file.bytes());
    }

    private static void send(HttpServerRequest request, int status, String type, String body) {
        if (!request.response().closed()) {
            request.response()
                    .setStatusCode(status)
                    .putHeader("Content-Type", type)
                    .putHeader("X-Content-Type-Options", "nosniff")
                    .putHeader("Cache-Control", "no-store");
            var unused = request.response().end(body);
        }
    }
}
