package dev.hongbao.server;

import dev.hongbao.access.Access;
import dev.hongbao.access.CallLog;
import dev.hongbao.access.RateLimits;
import dev.hongbao.access.Tokens;
import dev.hongbao.access.UserItemsBody;
import dev.hongbao.campaign.Campaigns;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.WebConfig.HttpConfig;
import dev.hongbao.config.WebConfig.LimitsConfig;
import dev.hongbao.doctor.Checks;
import dev.hongbao.draw.PlayRoutes;
import dev.hongbao.feed.Feeds;
import dev.hongbao.http.CallsInFlight;
import dev.hongbao.http.ConnectionCap;
import dev.hongbao.http.ConnectionCap.ClientAddresses;
import dev.hongbao.http.Contract;
import dev.hongbao.http.Contract.Frames;
import dev.hongbao.http.Exchange;
import dev.hongbao.http.Exchange.HttpMetrics;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.HttpFace.SocketUpgrade;
import dev.hongbao.http.HttpSettings;
import dev.hongbao.http.HttpSettings.Origins;
import dev.hongbao.http.PageFiles;
import dev.hongbao.ledger.Wallets;
import dev.hongbao.packet.ClaimRoutes;
import dev.hongbao.page.DemoLogin;
import dev.hongbao.page.ManagementVerticle;
import dev.hongbao.ws.Sockets;
import io.github.bucket4j.TimeMeter;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/** The HTTP API, the WebSocket API and the management port. Thread-safe. */
final class Apis {
    /** The limit of a stop's wait for answers in flight. */
    private static final Duration DRAIN_LIMIT = Duration.ofSeconds(3);

    /** For a first header, and for a body. */
    private static final Duration REQUEST_LIMIT = Duration.ofSeconds(10);

    private static final Duration CHECK_LIMIT = Duration.ofSeconds(2);

    private final HongbaoConfig config;
    private final PrometheusMeterRegistry metrics;
    private final HttpSettings settings;
    private final Contract contract;
    private final PageFiles files;
    private final Tokens tokens;
    private final RateLimits rates;
    private final CallsInFlight inFlight;
    private final HttpMetrics httpMetrics;
    private final ConnectionCap cap;
    private final Sockets sockets;
    private final DemoLogin demo;

    /** Reads the contracts, the page and the demo's key. It needs no store. Blocks. */
    Apis(HongbaoConfig config, Tokens tokens, PrometheusMeterRegistry metrics, Clock clock) throws IOException {
        HttpConfig http = config.web().http();
        this.config = config;
        this.metrics = metrics;
        this.settings = settings(config);
        this.contract = Contract.load();
        this.files = PageFiles.chat(config.pageImages());
        this.tokens = tokens;
        LimitsConfig limits = config.web().limits();
        this.rates = new RateLimits(
                RateLimits.Settings.of(limits, config.domain().packet().maxCount()), TimeMeter.SYSTEM_NANOTIME);
        this.inFlight = new CallsInFlight(
                limits.callsInFlight(),
                limits.serviceCallsInFlight(),
                limits.pollsInFlight(),
                http.answerTimeout().toMillis());
        this.httpMetrics = HttpMetrics.of(metrics, contract);
        ClientAddresses addresses = ClientAddresses.of(http.trustedProxies());
        int mostConnections = Checks.connections(http.maxConnections());
        this.cap = new ConnectionCap(mostConnections, http.maxPerAddress(), addresses, metrics);
        Meters.watchQueues(metrics, config, mostConnections);
        this.sockets = new Sockets(config.web().socket(), Frames.load(), addresses, settings.origins(), metrics, clock);
        this.demo = DemoLogin.of(config, clock);
    }

    DemoLogin demo() {
        return demo;
    }

    /**
     * One event loop's server of the API's port.
     *
     * @param ready the moment to listen
     * @param listening receives the bound port
     */
    Deployable http(Vertx vertx, Engine engine, Future<Void> ready, IntConsumer listening) {
        return HttpFace.verticle(
                settings,
                () -> engine.services().compose(services -> {
                    Access gate = gate(engine, settings);
                    ClaimRoutes claims = claims(vertx, services);
                    PlayRoutes plays = plays(vertx, services);
                    SocketUpgrade upgrade = sockets.face(
                            vertx,
                            engine.auditLog,
                            gate,
                            services.feed,
                            claims,
                            plays,
                            services.packets,
                            services.campaigns);
                    HttpFace face =
                            new HttpFace(vertx, settings, files, gate, audits(engine), httpMetrics, cap, upgrade);
                    face.serve(contract, routes(vertx, engine, services, claims, plays, face), services::close);
                    Context loop = vertx.getOrCreateContext();
                    Promise<HttpFace> serving = Promise.promise();
                    ready.map(face)
                            .onComplete((opened, fault) -> loop.runOnContext(now -> serving.complete(opened, fault)));
                    return serving.future();
                }),
                listening);
    }

    /** The server of the management port. Its console opens with the first call. @param listening receives the bound port */
    ManagementVerticle management(
            Vertx vertx, Engine engine, Map<String, Supplier<Future<Boolean>>> readiness, IntConsumer listening) {
        return new ManagementVerticle(
                config.web().management(), readiness, CHECK_LIMIT, metrics, listening, () -> console(vertx, engine));
    }

    private Future<HttpFace> console(Vertx vertx, Engine engine) {
        HttpSettings plain = settings.forConsole();
        return vertx.executeBlocking(Contract::ofConsole)
                .compose(calls -> engine.services().map(services -> {
                    HttpFace face = new HttpFace(
                            vertx,
                            plain,
                            files,
                            gate(engine, plain),
                            audits(engine),
                            HttpMetrics.of(metrics, calls),
                            cap,
                            SocketUpgrade.NONE);
                    Map<String, Route> routes =
                            routes(vertx, engine, services, claims(vertx, services), plays(vertx, services), face);
                    routes.putAll(ManagementVerticle.routes(vertx, calls, engine.console, face));
                    return face.serve(calls, routes, services::close);
                }));
    }

    private Access gate(Engine engine, HttpSettings listener) {
        return new Access(
                tokens, rates, inFlight, engine.restrictions, listener.address().needsClientCertificate());
    }

    private Exchange.Audits audits(Engine engine) {
        long answerMillis = settings.timeouts().answer().toMillis();
        return new CallLog(engine.auditLog, answerMillis).ofHttp(cap);
    }

    /** The route of each call of the API, by {@code operationId}. */
    private Map<String, Route> routes(
            Vertx vertx, Engine engine, Services services, ClaimRoutes claims, PlayRoutes plays, HttpFace face) {
        Pool pool = engine.pool();
        Map<String, Route> routes = new HashMap<>();
        routes.putAll(Access.routes(pool, engine.profiles, engine.restrictions, face));
        routes.putAll(Wallets.routes(pool, engine.stores.pools.books(), engine.assets, engine.wallets, face));
        routes.putAll(engine.packets.routes(claims, engine.loop, services.redis, engine.profiles, rates, face));
        routes.putAll(engine.draws.routes(services.draws, plays, engine.profiles, face));
        routes.putAll(Campaigns.routes(services.campaigns, services.rains, rates, face));
        routes.putAll(engine.outbox.routes(vertx, inFlight, face));
        routes.putAll(Feeds.routes(services.feed, inFlight, face));
        routes.putAll(
                demo.routes(engine.wallets, rates, settings.timeouts().answer().toMillis()));
        return routes;
    }

    private ClaimRoutes claims(Vertx vertx, Services services) {
        return new ClaimRoutes(rates, services.claims, items(vertx, "claimMany", "claims", "claim"));
    }

    private PlayRoutes plays(Vertx vertx, Services services) {
        return new PlayRoutes(rates, inFlight, services.plays, items(vertx, "playMany", "plays", "plays"));
    }

    private UserItemsBody items(Vertx vertx, String operation, String list, String result) {
        // A timer: Netty runs the tasks of runOnContext for up to a second before it looks at the connections.
        Executor later = part -> vertx.setTimer(1, tick -> part.run());
        return new UserItemsBody(contract.itemsOf(operation, list), list, result, later);
    }

    private static HttpSettings settings(HongbaoConfig config) {
        HttpConfig http = config.web().http();
        return new HttpSettings(
                http.address(),
                HttpSettings.MAX_BODY_BYTES,
                new HttpSettings.Timeouts(
                        REQUEST_LIMIT,
                        REQUEST_LIMIT,
                        http.idleTimeout(),
                        http.answerTimeout(),
                        config.web().socket().slowTimeout(),
                        DRAIN_LIMIT),
                new Origins(http.origins()),
                http.basePath(),
                http.proxyProtocol() == HttpConfig.ProxyProtocol.ON ? http.trustedProxies() : List.of());
    }
}
