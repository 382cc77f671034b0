package dev.hongbao.page;

import dev.hongbao.access.JsonUrl;
import dev.hongbao.config.ListenAddress;
import dev.hongbao.config.WebConfig.ManagementConfig;
import dev.hongbao.engine.QuarantineStore;
import dev.hongbao.engine.ShardOwners;
import dev.hongbao.http.Contract;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpSettings;
import dev.hongbao.http.PageFiles;
import dev.hongbao.http.Reply;
import dev.hongbao.http.ServerTls;
import dev.hongbao.ledger.Turnover;
import dev.hongbao.ledger.Wallets;
import dev.hongbao.reconcile.Reconciliation;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Named;
import dev.hongbao.values.Page;
import dev.hongbao.values.StrictJson;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code /health/live}, {@code /health/ready}, {@code /metrics}, and the console with the numbers of its overview. These need no
 * token: bind the port to loopback or to a network that only operators reach. On loopback it answers only to loopback's host
 * names, against DNS rebinding by web pages in the operator's browser. The console's other calls need a token: see
 * {@code console.yaml}. The first call opens the console. One instance.
 */
public final class ManagementVerticle extends VerticleBase {
    private static final Logger LOG = LoggerFactory.getLogger(ManagementVerticle.class);
    private static final long SAMPLE_MILLIS = 1_000;

    /** Interval of checks without requests; each opens a connection to Redis. */
    private static final long CHECK_MILLIS = 5_000;

    private static final int IDLE_SECONDS = 30;
    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String LOOPBACK = "localhost|127(\\.[0-9]{1,3}){3}|\\[?::1]?";

    /** A Host header with any port, since a tunnel to loopback may have another. */
    private static final Pattern LOOPBACK_HOST = Pattern.compile("(?i)(" + LOOPBACK + ")(:[0-9]{1,5})?");

    private final ListenAddress address;
    private final HealthChecks readiness;
    private final PrometheusMeterRegistry metrics;
    private final IntConsumer listening;
    private final boolean onLoopback;
    private final PageFiles page;
    private final ManagementConfig.@Nullable Oidc oidc;
    private final RecentNumbers recent;
    private final Supplier<Future<HttpFace>> opening;
    private @Nullable Future<HttpFace> console;

    @SuppressWarnings("NullAway.Init") // set by start
    private HttpServer server;

    /**
     * @param readiness the checks of {@code /health/ready} by name, of letters and dashes; true = well. A check that fails, throws or is late
     *     is not well
     * @param checkLimit of each check
     * @param listening receives the bound port
     * @param opening opens the console's calls, on this verticle's loop; once, or again
     *     after a failure
     */
    public ManagementVerticle(
            ManagementConfig config,
            Map<String, Supplier<Future<Boolean>>> readiness,
            Duration checkLimit,
            PrometheusMeterRegistry metrics,
            IntConsumer listening,
            Supplier<Future<HttpFace>> opening) {
        this.address = config.address();
        this.oidc = config.oidc();
        this.page = PageFiles.console(oidc == null ? null : URI.create(oidc.issuer()));
        this.readiness = new HealthChecks(readiness, checkLimit);
        this.metrics = metrics;
        this.listening = listening;
        this.opening = opening;
        this.onLoopback = address.host().matches("(?i)" + LOOPBACK);
        this.recent = new RecentNumbers(metrics, Clock.systemUTC());
    }

    /** The routes of the console's own calls, by {@code operationId}. @param contract the console's */
    public static Map<String, HttpFace.Route> routes(
            Vertx vertx, Contract contract, ConsoleServices services, HttpFace face) {
        return face.counted(new ConsoleRoutes(vertx, contract, services).byOperation());
    }

    @Override
    public Future<?> start() {
        HttpServerOptions options = new HttpServerOptions()
                .setHost(address.host())
                .setPort(address.port())
                .setHttp2ClearTextEnabled(false)
                .setMaxHeaderSize(HttpSettings.MAX_HEADER_BYTES)
                .setIdleTimeout(IDLE_SECONDS)
                .setIdleTimeoutUnit(TimeUnit.SECONDS);
        ListenAddress.Tls files = address.tls();
        if (files == null) {
            return serve(options);
        }
        ServerTls tls = new ServerTls(vertx, "management", files);
        return tls.secure(options)
                .compose(secured -> serve(options))
                .onSuccess(listening -> tls.follow(server, options));
    }

    private Future<?> serve(HttpServerOptions options) {
        server = vertx.createHttpServer(options).requestHandler(handler(router()));
        recent.sample();
        vertx.setPeriodic(SAMPLE_MILLIS, tick -> recent.sample());
        readiness.watch(metrics);
        vertx.setPeriodic(1, CHECK_MILLIS, tick -> readiness.ask());
        return server.listen().map(bound -> {
            listening.accept(bound.actualPort());
            return bound;
        });
    }

    private Handler<HttpServerRequest> handler(Router router) {
        return request -> {
            if (onLoopback && !isForLoopback(request)) {
                send(request, 421, TEXT, "on loopback this is only at http://127.0.0.1 or http://localhost\n");
            } else if (isOfConsole(request)) {
                call(request);
            } else {
                router.handle(request);
            }
        };
    }

    private static boolean isOfConsole(HttpServerRequest request) {
        String path = request.path();
        return path != null && (path.startsWith("/v1/") || path.startsWith("/manage/"));
    }

    private Router router() {
        Router router = Router.router(vertx);
        read(router, "/health/live").handler(routing -> send(routing, 200, JSON, "{\"status\":\"UP\"}"));
        read(router, "/health/ready").handler(this::ready);
        read(router, "/metrics").handler(this::scrape);
        read(router, "/recent.json")
                .handler(routing -> send(routing, 200, JSON, recent.toJson(after(routing.request()))));
        read(router, "/console/oidc.json").handler(routing -> send(routing, 200, JSON, SignIn.json(oidc)));
        if (oidc != null) {
            SignIn signIn = new SignIn(vertx, oidc);
            read(router, "/")
                    .handler(routing ->
                            signIn.tokenOrigin().onSuccess(origin -> file(routing, file -> file.mayCall(origin))));
        }
        router.get().method(HttpMethod.HEAD).handler(routing -> file(routing, UnaryOperator.identity()));
        router.route().handler(routing -> {
            routing.response().putHeader("Allow", "GET, HEAD");
            send(routing, 405, TEXT, "only GET and HEAD\n");
        });
        router.route().failureHandler(routing -> {
            if (routing.statusCode() == 500) {
                LOG.error("{} failed", routing.request().path(), routing.failure());
            }
            send(routing, routing.statusCode(), TEXT, "this cannot be answered\n");
        });
        // The router reports a malformed escape in the path only here.
        return router.errorHandler(400, routing -> send(routing, 400, TEXT, "this cannot be answered\n"));
    }

    /** A route for GET and for HEAD, which load balancers send. */
    private static Route read(Router router, String path) {
        return router.get(path).method(HttpMethod.HEAD);
    }

    @Override
    public Future<?> stop() {
        Future<Void> closed = console == null
                ? Future.succeededFuture()
                : console.compose(HttpFace::close).otherwiseEmpty();
        return closed.eventually(() -> server.shutdown(1, TimeUnit.SECONDS));
    }

    /** The first call opens the console's calls and waits for it. */
    private void call(HttpServerRequest request) {
        if (console == null || console.failed()) {
            console = opening.get();
        }
        if (console.succeeded()) {
            console.result().handle(request);
            return;
        }
        request.pause();
        console.onSuccess(face -> {
                    face.handle(request);
                    request.resume();
                })
                .onFailure(fault -> {
                    LOG.warn("the console's calls cannot be opened: {}", fault.toString());
                    send(request, 503, TEXT, "the stores do not answer\n");
                });
    }

    private void ready(RoutingContext routing) {
        readiness
                .ask()
                .onSuccess(report -> send(routing, report.isUp() ? 200 : 503, JSON, report.toJson()))
                .onFailure(fault -> send(routing, 503, JSON, "{\"status\":\"DOWN\"}"));
    }

    /** Rendering walks all meters, a few milliseconds, so it runs on a worker. */
    private void scrape(RoutingContext routing) {
        vertx.<String>executeBlocking(metrics::scrape)
                .onSuccess(text -> send(routing, 200, "text/plain; version=0.0.4; charset=utf-8", text))
                .onFailure(fault -> send(routing, 500, TEXT, "no metrics\n"));
    }

    /** A browser always sends Host; a load balancer's check in HTTP/1.0 may not. */
    private static boolean isForLoopback(HttpServerRequest request) {
        String named = request.headers().get(HttpHeaders.HOST);
        return named == null || LOOPBACK_HOST.matcher(named).matches();
    }

    /** The query's {@code after}; 0, the beginning, if it is absent or malformed. */
    private static long after(HttpServerRequest request) {
        try {
            String text = request.getParam("after");
            return text != null && text.matches("[0-9]{1,15}") ? Long.parseLong(text) : 0;
        } catch (IllegalArgumentException malformed) {
            return 0;
        }
    }

    private void file(RoutingContext routing, UnaryOperator<PageFiles.PageFile> served) {
        PageFiles.PageFile found = page.find(routing.request().path());
        if (found == null) {
            send(routing, 404, TEXT, "/, /health/live, /health/ready, /metrics\n");
            return;
        }
        HttpServerResponse response = routing.response().putHeader("X-Content-Type-Options", "nosniff");
        Reply reply = served.apply(found).reply(routing.request().getHeader(HttpHeaders.ACCEPT_ENCODING));
        List<String> headers = reply.headers();
        for (int i = 0; i < headers.size(); i += 2) {
            response.putHeader(headers.get(i), headers.get(i + 1));
        }
        if (routing.etag(reply.tag()).isFresh()) {
            var unused = response.setStatusCode(304).end();
        } else {
            var unused = response.putHeader("Content-Type", reply.contentType()).end(reply.body());
        }
    }

    private static void send(RoutingContext routing, int status, String type, String body) {
        send(routing.request(), status, type, body);
    }

    private static void send(HttpServerRequest request, int status, String type, String body) {
        HttpServerResponse response = request.response();
        if (!response.closed()) {
            response.setStatusCode(status)
                    .putHeader("Content-Type", type)
                    .putHeader("X-Content-Type-Options", "nosniff")
                    .putHeader("Cache-Control", "no-store");
            var unused = response.end(body);
        }
    }

    /** The console's services beside the API. Shared; called on event loops. */
    public interface ConsoleServices {
        /** The server's clock, for simulations. */
        Clock clock();

        ShardOwners owners();

        Future<Page<Wallets.Holder>> users(String after, int limit);

        Future<List<Turnover.Sum>> turnover();

        /** Everything in quarantine, longest first. */
        Future<List<QuarantineStore.Listed>> quarantined();

        /** See {@link QuarantineStore#replay}. */
        Future<Integer> replay(UUID unit);

        /** See {@link QuarantineStore#drop}. */
        Future<Integer> drop(UUID unit);

        Reconciliation.Runs reconciliations();
    }

    /**
     * The OpenID provider that lets operators into the console. The browser reads its discovery document, then requests a token. The
     * token endpoint may have another origin, which the console's Content-Security-Policy must allow and only the document names. So
     * the server reads the document when the page is requested, at most once a minute. Confined to its event loop.
     */
    private static final class SignIn {
        private static final Duration LIMIT = Duration.ofSeconds(3);
        private static final long FRESH_NANOS = TimeUnit.MINUTES.toNanos(1);

        /** An endpoint's origin. It goes into a header, so it has no blank and no semicolon. */
        private static final Pattern ORIGIN = Pattern.compile("(https?://[A-Za-z0-9.:\\[\\]-]+)(/.*)?");

        private final Vertx vertx;
        private final ManagementConfig.Oidc oidc;
        private final JsonUrl discovery;
        private String tokenOrigin = "";
        private @Nullable Future<String> asked;
        private long askedNanos;

        SignIn(Vertx vertx, ManagementConfig.Oidc oidc) {
            this.vertx = vertx;
            this.oidc = oidc;
            String issuer = oidc.issuer().replaceFirst("/$", "");
            this.discovery = new JsonUrl(URI.create(issuer + "/.well-known/openid-configuration"), LIMIT);
        }

        /** The provider's settings for the console's page; an empty object for none. */
        static String json(ManagementConfig.@Nullable Oidc oidc) {
            return oidc == null
                    ? "{}"
                    : new JsonText(256)
                            .beginObject()
                            .field("issuer", oidc.issuer())
                            .field("clientId", oidc.clientId())
                            .field("scope", oidc.scope())
                            .endObject()
                            .toString();
        }

        /**
         * The origin of the provider's token endpoint; empty while unknown. Reads the discovery document on a worker. Never fails:
         * while the provider is unreachable, keeps the last origin.
         */
        Future<String> tokenOrigin() {
            long now = System.nanoTime();
            if (asked == null || now - askedNanos > FRESH_NANOS) {
                askedNanos = now;
                asked = vertx.executeBlocking(discovery::read, false)
                        .map(this::tokenOrigin)
                        .onSuccess(origin -> tokenOrigin = origin)
                        .otherwise(fault -> {
                            LOG.warn("console.oidc-issuer: its discovery document: {}", fault.toString());
                            askedNanos = System.nanoTime() - FRESH_NANOS; // again with the next page
                            return tokenOrigin;
                        });
            }
            return asked;
        }

        private String tokenOrigin(String document) {
            try {
                JsonObject found = StrictJson.FOREIGN.decode(document.getBytes(StandardCharsets.UTF_8));
                Matcher endpoint = ORIGIN.matcher(String.valueOf(found.getValue("token_endpoint")));
                if (!oidc.issuer().equals(found.getValue("issuer")) || !endpoint.matches()) {
                    throw new IllegalArgumentException("it is of another issuer, or names no token_endpoint");
                }
                return endpoint.group(1);
            } catch (InvalidInputException malformed) {
                throw new IllegalArgumentException("it is no JSON", malformed);
            }
        }
    }

    /**
     * The last ten minutes of the console's plots, and the last faults and recoveries, so that a page opened later still shows them.
     * Samples this server's meters once a second, not the cluster's. Confined to one thread.
     */
    static final class RecentNumbers {
        /** Ten minutes, about 60 KB. */
        private static final int SAMPLES = 600;

        private static final int EVENTS = 100;

        /** In each sample, after the claims and the latencies. */
        private static final List<String> GAUGES = List.of(
                "hongbao.journal.unsettled.entries",
                "hongbao_http_connections",
                "hongbao.socket.connections",
                "hongbao.packet.open");

        /** Counters whose growth is an event: the counter's name, and a tag to select by or null. */
        private enum Watched implements Named {
            RECOVERY("hongbao.journal.recoveries", null, null),
            SETTLEMENT_FAILED("hongbao.journal.failures", null, null),
            VOID("hongbao.journal.voids", null, null),
            UNKNOWN_ANSWER("hongbao.claim.outcomes", "outcome", "unknown"),
            SERVER_ERROR("hongbao_http_requests", "status", "5xx");

            private final String meter;
            private final @Nullable String tag;
            private final @Nullable String value;

            Watched(String meter, @Nullable String tag, @Nullable String value) {
                this.meter = meter;
                this.tag = tag;
                this.value = value;
            }
        }

        /** A sample or an event, as its item in {@link #toJson}. */
        private record Entry(long atMillis, String json) {}

        private final MeterRegistry meters;
        private final Clock clock;
        private final Deque<Entry> samples = new ArrayDeque<>();
        private final Deque<Entry> events = new ArrayDeque<>();
        private final Map<Watched, Double> before = new LinkedHashMap<>();
        private double claimsBefore = Double.NaN;
        private long settledBefore;
        private double[] settledBefores = {};
        private long sampledAtMillis;

        RecentNumbers(MeterRegistry meters, Clock clock) {
            this.meters = meters;
            this.clock = clock;
        }

        /** Takes a sample; call about once a second. */
        void sample() {
            long now = clock.millis();
            double claims = count("hongbao.claim.outcomes", "outcome", "claimed");
            double seconds = Math.max(1, now - sampledAtMillis) / 1000.0;
            long perSecond = Double.isNaN(claimsBefore) ? 0 : Math.round((claims - claimsBefore) / seconds);
            claimsBefore = claims;
            sampledAtMillis = now;
            JsonText sample = new JsonText(96).beginArray().raw(Long.toString(now));
            sample.raw(Long.toString(Math.max(0, perSecond)));
            latency(sample);
            for (String gauge : GAUGES) {
                sample.raw(Long.toString(gauge(gauge)));
            }
            samples.add(new Entry(now, sample.endArray().toString()));
            if (samples.size() > SAMPLES) {
                samples.remove();
            }
            for (Watched watched : Watched.values()) {
                double count = count(watched.meter, watched.tag, watched.value);
                Double last = before.put(watched, count);
                if (last != null && count > last) {
                    JsonText event = new JsonText(96).beginObject().field("at", now);
                    event.plain("kind", watched.wireName()).field("count", Math.round(count - last));
                    events.add(new Entry(now, event.endObject().toString()));
                }
            }
            while (events.size() > EVENTS) {
                events.remove();
            }
        }

        /** Adds the median and the 99th percentile since the previous sample, in milliseconds; nulls if nothing settled. */
        private void latency(JsonText sample) {
            Timer timer = meters.find("hongbao.claim.settling").timer();
            if (timer == null || timer.count() == settledBefore) {
                sample.raw("null").raw("null");
                return;
            }
            long settled = timer.count() - settledBefore;
            settledBefore = timer.count();
            CountAtBucket[] buckets = timer.takeSnapshot().histogramCounts();
            double[] upTo = new double[buckets.length];
            for (int i = 0; i < buckets.length; i++) {
                upTo[i] = buckets[i].count() - (i < settledBefores.length ? settledBefores[i] : 0);
            }
            settledBefores =
                    Stream.of(buckets).mapToDouble(CountAtBucket::count).toArray();
            sample.raw(millis(quantile(0.5 * settled, buckets, upTo)));
            sample.raw(millis(quantile(0.99 * settled, buckets, upTo)));
        }

        /**
         * Computes as Prometheus does: times spread evenly within a bucket, and a time beyond the last bucket counts as its bound.
         *
         * @param upTo cumulative counts per bucket
         * @return in milliseconds
         */
        private static double quantile(double rank, CountAtBucket[] buckets, double[] upTo) {
            double low = 0;
            double before = 0;
            for (int i = 0; i < upTo.length; i++) {
                double high = buckets[i].bucket(TimeUnit.MILLISECONDS);
                if (upTo[i] >= rank) {
                    return low + (high - low) * (rank - before) / (upTo[i] - before);
                }
                low = high;
                before = upTo[i];
            }
            return low;
        }

        private double count(String name, @Nullable String tag, @Nullable String value) {
            double sum = 0;
            for (Counter counter : meters.find(name).counters()) {
                if (tag == null || String.valueOf(value).equals(counter.getId().getTag(tag))) {
                    sum += counter.count();
                }
            }
            return sum;
        }

        private long gauge(String name) {
            double sum = 0;
            for (Gauge gauge : meters.find(name).gauges()) {
                sum += gauge.value();
            }
            return Math.round(sum);
        }

        /**
         * {@code {"samples":[[at, claims, p50, p99, unsettled, connections, sockets, openPackets], …], "events":[…]}}, oldest first;
         * times in milliseconds since 1970, latencies in milliseconds or null.
         *
         * @param afterMillis returns only later entries
         */
        String toJson(long afterMillis) {
            JsonText json = new JsonText(1024).beginObject();
            write(json.name("samples"), samples, afterMillis);
            write(json.name("events"), events, afterMillis);
            return json.endObject().toString();
        }

        private static void write(JsonText json, Deque<Entry> entries, long afterMillis) {
            json.beginArray();
            entries.stream().filter(each -> each.atMillis > afterMillis).forEach(each -> json.raw(each.json));
            json.endArray();
        }

        private static String millis(double value) {
            return Double.toString(Math.round(value * 100) / 100.0);
        }
    }
}
