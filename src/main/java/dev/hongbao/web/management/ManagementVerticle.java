package dev.hongbao.web.management;

import dev.hongbao.web.page.PageFiles;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code /health/live}, {@code /health/ready}, {@code /metrics}, and the operator's page with its numbers. Without a token: bind it to loopback or to a network
 * that only operators reach. On loopback it answers only under loopback's names, so that no web page that the operator looks at
 * can read it by pointing a name of its own here (DNS rebinding). One instance.
 */
public final class ManagementVerticle extends VerticleBase {
    private static final Logger LOG = LoggerFactory.getLogger(ManagementVerticle.class);
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
                .requestHandler(router());
        recent.sample();
        vertx.setPeriodic(SAMPLE_MILLIS, tick -> recent.sample());
        return server.listen().map(bound -> {
            listening.accept(bound.actualPort());
            return bound;
        });
    }

    private Router router() {
        Router router = Router.router(vertx);
        router.route().handler(this::admit);
        router.get("/health/live").handler(routing -> send(routing, 200, JSON, "{\"status\":\"UP\"}"));
        router.get("/health/ready").handler(this::ready);
        router.get("/metrics").handler(this::scrape);
        router.get("/recent.json")
                .handler(routing -> send(
                        routing,
                        200,
                        JSON,
                        recent.toJson(after(routing.request().getParam("after")))));
        router.get().handler(this::file);
        router.route().handler(routing -> {
            routing.response().putHeader("Allow", "GET");
            send(routing, 405, TEXT, "only GET\n");
        });
        router.route().failureHandler(routing -> {
            if (routing.statusCode() == 500) {
                LOG.error("{} failed", routing.request().path(), routing.failure());
            }
            send(routing, routing.statusCode(), TEXT, "this can not be answered\n");
        });
        return router;
    }

    @Override
    public Future<?> stop() {
        return server.shutdown(1, TimeUnit.SECONDS);
    }

    private void admit(RoutingContext routing) {
        if (onLoopback && !isForLoopback(routing.request())) {
            send(routing, 421, TEXT, "on loopback this is only at http://127.0.0.1 or http://localhost\n");
        } else {
            routing.next();
        }
    }

    private void ready(RoutingContext routing) {
        readiness
                .ask()
                .onSuccess(report -> send(routing, report.isUp() ? 200 : 503, JSON, report.toJson()))
                .onFailure(fault -> send(routing, 503, JSON, "{\"status\":\"DOWN\"}"));
    }

    /** Rendering walks all meters; a few milliseconds that an event loop should not spend. */
    private void scrape(RoutingContext routing) {
        vertx.<String>executeBlocking(metrics::scrape)
                .onSuccess(text -> send(routing, 200, "text/plain; version=0.0.4; charset=utf-8", text))
                .onFailure(fault -> send(routing, 500, TEXT, "no metrics\n"));
    }

    /** A browser always names a host; a load balancer's check in HTTP/1.0 may not. */
    private static boolean isForLoopback(HttpServerRequest request) {
        String named = request.headers().get(HttpHeaders.HOST);
        return named == null || LOOPBACK_HOST.matcher(named).matches();
    }

    /** What is no number means from the beginning. */
    private static long after(@Nullable String text) {
        return text != null && text.matches("[0-9]{1,15}") ? Long.parseLong(text) : 0;
    }

    private void file(RoutingContext routing) {
        PageFiles.PageFile file = page.find(routing.request().path());
        if (file == null) {
            send(routing, 404, TEXT, "/, /health/live, /health/ready, /metrics\n");
            return;
        }
        HttpServerResponse response = routing.response().putHeader("X-Content-Type-Options", "nosniff");
        List<String> headers = file.headers();
        for (int i = 0; i < headers.size(); i += 2) {
            response.putHeader(headers.get(i), headers.get(i + 1));
        }
        if (routing.etag(file.tag()).isFresh()) {
            var unused = response.setStatusCode(304).end();
        } else {
            var unused = response.putHeader("Content-Type", file.type()).end(file.bytes());
        }
    }

    private static void send(RoutingContext routing, int status, String type, String body) {
        HttpServerResponse response = routing.response();
        if (!response.closed()) {
            response.setStatusCode(status)
                    .putHeader("Content-Type", type)
                    .putHeader("X-Content-Type-Options", "nosniff")
                    .putHeader("Cache-Control", "no-store");
            var unused = response.end(body);
        }
    }
}
