package dev.hongbao.web.http;

import dev.hongbao.web.access.CallsInFlight;
import dev.hongbao.web.access.RateLimits;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.Map;

/** The routes of the contract's calls. One instance per event loop. */
final class ApiRoutes {
    private final Vertx vertx;
    private final HttpVerticle.Shared shared;
    private final HttpVerticle.Opened opened;
    private final CallsInFlight inFlight;
    private final CallsUnderWay ongoing;
    private final Gate gate;
    private final WaitingPolls polls;
    private final long answerMillis;

    /** @param answerMillis the longest time that a call may take */
    ApiRoutes(
            Vertx vertx,
            HttpVerticle.Shared shared,
            HttpVerticle.Opened opened,
            CallsUnderWay ongoing,
            Gate gate,
            WaitingPolls polls,
            long answerMillis) {
        this.vertx = vertx;
        this.shared = shared;
        this.opened = opened;
        this.inFlight = shared.limits().inFlight();
        this.ongoing = ongoing;
        this.gate = gate;
        this.polls = polls;
        this.answerMillis = answerMillis;
    }

    /** All routes, by {@code operationId}. @param more further routes, which replace the API's for the same call */
    Map<String, Route> byOperation(Map<String, Route> more) {
        Services services = opened.services();
        HostServices host = opened.host();
        RateLimits rates = shared.limits().rates();
        DrawRoutes draws = new DrawRoutes(services.hosted());
        WinRoutes wins =
                new WinRoutes(services.hosted().draws(), services.hosted().wins(), services.profiles());
        CampaignRoutes campaigns = new CampaignRoutes(services.hosted().campaigns(), rates);
        BookRoutes books = new BookRoutes(host.money().books());
        AuditRoutes audits = new AuditRoutes(host.trail());
        Map<String, Route> routes = new HashMap<>();
        routes.putAll(new Routes(services, rates).byOperation());
        routes.putAll(draws.byOperation());
        routes.putAll(wins.byOperation());
        routes.putAll(new ProfileRoutes(services.profiles()).byOperation());
        routes.putAll(campaigns.byOperation());
        routes.putAll(new RainRoutes(services.hosted().rains()).byOperation());
        routes.putAll(new SupportRoutes(services, host.support()).byOperation());
        routes.putAll(new WebhookRoutes(host.webhooks(), host.webhookProbe()).byOperation());
        routes.putAll(new AssetRoutes(host.money().assets()).byOperation());
        routes.putAll(new RestrictionRoutes(host.money()).byOperation());
        routes.putAll(books.byOperation());
        routes.putAll(audits.byOperation());
        routes.replaceAll((id, route) -> counted(route));
        // These count themselves, last as long as their reader, or have no caller.
        DemoRoutes demo = new DemoRoutes(shared.demo(), services.wallets(), rates, answerMillis);
        routes.put("totalTransfers", books::totals);
        routes.put("claim", new ClaimRoute(rates, services.claims(), ongoing)::answer);
        routes.put("listEvents", guarded(new EventsRoute(services.feed(), polls, inFlight)::answer));
        routes.put("readOutbox", guarded(new OutboxRoute(vertx, host.outbox(), polls, inFlight)::answer));
        routes.put("exportPlays", draws::export);
        routes.put("exportWins", wins::export);
        routes.put("reportCampaign", campaigns::report);
        routes.put("exportAuditLog", audits::export);
        routes.put("getDemo", demo::about);
        routes.put("loginToDemo", demo::enter);
        more.forEach((id, route) -> routes.put(id, counted(route)));
        return routes;
    }

    /** Counts a call in progress for its caller's limit, and for a stop, which waits for it. */
    private Route counted(Route route) {
        return call -> inFlight.run(call.caller(), () -> ongoing.track(route.answer(call)));
    }

    /** Checks the caller again after a call that may have waited long. */
    private Route guarded(Route route) {
        return call -> route.answer(call).map(reply -> {
            Reply refusal = gate.refusal(call.caller());
            return refusal == null ? reply : refusal;
        });
    }
}
