package dev.hongbao.server;

import dev.hongbao.access.Access;
import dev.hongbao.access.AuditRoutes;
import dev.hongbao.access.CallAudit;
import dev.hongbao.access.CallLog;
import dev.hongbao.access.Limit;
import dev.hongbao.access.ProfileRoutes;
import dev.hongbao.access.RateLimits;
import dev.hongbao.access.RestrictionRoutes;
import dev.hongbao.access.Tokens;
import dev.hongbao.campaign.CampaignRoutes;
import dev.hongbao.campaign.RainRoutes;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.HttpConfig;
import dev.hongbao.config.LimitsConfig;
import dev.hongbao.doctor.OpenFiles;
import dev.hongbao.draw.DrawRoutes;
import dev.hongbao.draw.WinRoutes;
import dev.hongbao.feed.EventsRoute;
import dev.hongbao.http.CallsInFlight;
import dev.hongbao.http.ClientAddresses;
import dev.hongbao.http.ConnectionCap;
import dev.hongbao.http.Contract;
import dev.hongbao.http.Frames;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpMetrics;
import dev.hongbao.http.HttpSettings;
import dev.hongbao.http.HttpVerticle;
import dev.hongbao.http.Origins;
import dev.hongbao.http.PageFiles;
import dev.hongbao.http.Route;
import dev.hongbao.http.SocketUpgrade;
import dev.hongbao.ledger.AssetRoutes;
import dev.hongbao.ledger.BookRoutes;
import dev.hongbao.ledger.LedgerRoutes;
import dev.hongbao.packet.ClaimRoute;
import dev.hongbao.packet.PacketRoutes;
import dev.hongbao.page.ConsoleRoutes;
import dev.hongbao.page.DemoLogin;
import dev.hongbao.page.DemoRoutes;
import dev.hongbao.page.HealthChecks;
import dev.hongbao.page.ManagementVerticle;
import dev.hongbao.page.SupportRoutes;
import dev.hongbao.webhook.OutboxRoute;
import dev.hongbao.webhook.WebhookRoutes;
import dev.hongbao.ws.Requests;
import dev.hongbao.ws.SocketFace;
import dev.hongbao.ws.SocketGuards;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/** The HTTP API, the WebSocket API and the management port. Thread-safe. */
final class Apis {
    /** The limit of a stop's wait for answers in flight. */
    private static final Duration DRAIN_LIMIT = Duration.ofSeconds(3);

    private static final Duration CHECK_LIMIT = Duration.ofSeconds(2);

    private final HongbaoConfig config;
    private final PrometheusMeterRegistry metrics;
    private final Clock clock;
    private final HttpSettings settings;
    private final Contract contract;
    private final Frames frames;
    private final PageFiles files;
    private final Tokens tokens;
    private final RateLimits rates;
    private final CallsInFlight inFlight;
    private final HttpMetrics httpMetrics;
    private final ConnectionCap cap;
    private final SocketGuards socketGuards;
    private final DemoLogin demo;

    /** Reads the contracts, the page and the demo's key. It needs no store. Blocks. */
    Apis(HongbaoConfig config, Tokens tokens, PrometheusMeterRegistry metrics, Clock clock) throws IOException {
        HttpConfig http = config.web().http();
        this.config = config;
        this.metrics = metrics;
        this.clock = clock;
        this.settings = settings(config);
        this.contract = Contract.load();
        this.frames = Frames.load();
        this.files = PageFiles.chat(config.page().images());
        this.tokens = tokens;
        this.rates =
                new RateLimits(rateLimits(config.web().limits(), config.domain().packet()), System::nanoTime);
        LimitsConfig.InFlight atOnce = config.web().limits().inFlight();
        this.inFlight = new CallsInFlight(
                atOnce.calls(),
                atOnce.serviceCalls(),
                atOnce.polls(),
                http.timeouts().answer().toMillis());
        this.httpMetrics = HttpMetrics.of(metrics, contract);
        ClientAddresses addresses = ClientAddresses.of(http.proxies().trusted());
        int mostConnections = OpenFiles.atMost(http.connections().max());
        this.cap = new ConnectionCap(mostConnections, http.connections().maxPerAddress(), addresses, metrics);
        Meters.watchQueues(metrics, config, mostConnections);
        this.socketGuards =
                new SocketGuards(config.web().socket().connections(), addresses, settings.origins(), metrics);
        this.demo = Demo.login(config, clock);
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
    HttpVerticle http(Vertx vertx, Engine engine, Future<Void> ready, IntConsumer listening) {
        return new HttpVerticle(
                settings,
                () -> engine.services().compose(services -> {
                    Access gate = gate(engine, settings);
                    Requests requests = new Requests(
                            frames,
                            gate,
                            services.feed,
                            services.claims,
                            services.packets,
                            services.plays,
                            services.campaigns,
                            clock);
                    SocketFace sockets =
                            new SocketFace(vertx, config.web().socket(), socketGuards, engine.auditLog, requests);
                    HttpFace face =
                            new HttpFace(vertx, settings, files, gate, audits(engine), httpMetrics, cap, sockets);
                    face.serve(contract, routes(vertx, engine, services, face), services::close);
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
                config.web().management(),
                new HealthChecks(readiness, CHECK_LIMIT),
                metrics,
                listening,
                () -> console(vertx, engine));
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
                    Map<String, Route> routes = routes(vertx, engine, services, face);
                    new ConsoleRoutes(vertx, calls, engine.console)
                            .byOperation()
                            .forEach((id, route) -> routes.put(id, face.counted(route)));
                    return face.serve(calls, routes, services::close);
                }));
    }

    private Access gate(Engine engine, HttpSettings listener) {
        return new Access(
                tokens, rates, inFlight, engine.restrictions, listener.address().needsClientCertificate());
    }

    private CallAudit.Log audits(Engine engine) {
        long answerMillis = settings.timeouts().answer().toMillis();
        return new CallAudit.Log(new CallLog(engine.auditLog, answerMillis), cap);
    }

    /** The route of each call of the API, by {@code operationId}. */
    private Map<String, Route> routes(Vertx vertx, Engine engine, Services services, HttpFace face) {
        DrawRoutes draws = new DrawRoutes(services.draws, services.plays, services.wins);
        WinRoutes wins = new WinRoutes(services.draws, services.wins, engine.profiles);
        CampaignRoutes campaigns = new CampaignRoutes(services.campaigns, rates);
        BookRoutes books = new BookRoutes(engine.books);
        AuditRoutes audits = new AuditRoutes(engine.auditReader);
        Map<String, Route> routes = new HashMap<>();
        routes.putAll(new LedgerRoutes(engine.wallets, engine.commands, engine.reversals).byOperation());
        routes.putAll(new PacketRoutes(services.packets, engine.profiles, rates).byOperation());
        routes.putAll(draws.byOperation());
        routes.putAll(wins.byOperation());
        routes.putAll(new ProfileRoutes(engine.profiles).byOperation());
        routes.putAll(campaigns.byOperation());
        routes.putAll(new RainRoutes(services.rains).byOperation());
        routes.putAll(new SupportRoutes(
                        services.packets,
                        engine.profiles,
                        engine.packetFiles,
                        services.closing,
                        engine.drawFiles,
                        engine.deposits)
                .byOperation());
        routes.putAll(new WebhookRoutes(engine.webhooks, engine.webhookProbe).byOperation());
        routes.putAll(new AssetRoutes(engine.assets).byOperation());
        routes.putAll(new RestrictionRoutes(engine.restrictions, engine.revocations).byOperation());
        routes.putAll(books.byOperation());
        routes.putAll(audits.byOperation());
        routes.replaceAll((id, route) -> face.counted(route));
        // These count themselves, or take as long as their reader, or have no caller.
        DemoRoutes visitors = new DemoRoutes(
                demo, engine.wallets, rates, settings.timeouts().answer().toMillis());
        routes.put("totalTransfers", books::totals);
        routes.put("claim", new ClaimRoute(rates, services.claims, face.underWay())::answer);
        routes.put("listEvents", face.guarded(new EventsRoute(services.feed, face.polls(), inFlight)::answer));
        routes.put("readOutbox", face.guarded(new OutboxRoute(vertx, engine.outbox, face.polls(), inFlight)::answer));
        routes.put("exportPlays", draws::export);
        routes.put("exportWins", wins::export);
        routes.put("reportCampaign", campaigns::report);
        routes.put("exportAuditLog", audits::export);
        routes.put("getDemo", visitors::about);
        routes.put("loginToDemo", visitors::enter);
        return routes;
    }

    private static HttpSettings settings(HongbaoConfig config) {
        HttpConfig http = config.web().http();
        HttpSettings.Timeouts defaults = HttpSettings.Timeouts.DEFAULT;
        return new HttpSettings(
                http.address(),
                HttpSettings.MAX_BODY_BYTES,
                new HttpSettings.Timeouts(
                        defaults.header(),
                        defaults.body(),
                        http.timeouts().idle(),
                        http.timeouts().answer(),
                        config.web().socket().timeouts().slow(),
                        DRAIN_LIMIT),
                new Origins(http.connections().origins()),
                http.proxies().basePath(),
                http.proxies().protocol() == HttpConfig.ProxyProtocol.ON
                        ? http.proxies().trusted()
                        : List.of());
    }

    private static RateLimits.Settings rateLimits(LimitsConfig config, HongbaoConfig.PacketConfig packets) {
        int shares = config.rates().shares();
        int guesses = config.wrongPasscodes().perMinute();
        RateLimits.Settings defaults = RateLimits.Settings.DEFAULT;
        return new RateLimits.Settings(
                perSecond(config.rates().claims()),
                perSecond(config.rates().requests()),
                defaults.service(),
                shares == 0 ? Limit.OFF : new Limit(shares, Math.max(shares, packets.maxCount())),
                guesses == 0 ? Limit.OFF : Limit.of(guesses, Duration.ofMinutes(1)),
                defaults.trackedUsers());
    }

    /** Allows a burst of two seconds' calls, such as a double click. */
    private static Limit perSecond(int calls) {
        return calls == 0 ? Limit.OFF : new Limit(calls, calls * 2);
    }
}
