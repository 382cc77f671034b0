package dev.hongbao.server;

import dev.hongbao.common.config.ClaimConfig;
import dev.hongbao.domain.claim.ClaimSettings;
import dev.hongbao.domain.draw.DrawService;
import dev.hongbao.domain.feed.FeedService;
import dev.hongbao.domain.fulfilment.WinStore;
import dev.hongbao.domain.fulfilment.Wins;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.engine.admission.AdmissionControl;
import dev.hongbao.engine.journal.AttemptSettings;
import dev.hongbao.engine.journal.KeyLoader;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.web.http.HostServices;
import dev.hongbao.web.http.Services;
import io.vertx.core.Future;

/** Makes what each event loop has for itself, the {@link LoopServices}, out of what a server has once. */
final class Loops {
    private final Foundation base;
    private final Parts parts;
    private final AdmissionControl admission;
    private final ClaimConfig claims;

    Loops(Foundation base, Parts parts, AdmissionControl admission) {
        this.base = base;
        this.parts = parts;
        this.admission = admission;
        this.claims = base.config().domain().claim();
    }

    /** Opens the services of the event loop it is called on. */
    Future<LoopServices> open() {
        return base.openRedis("claims").map(this::services);
    }

    private LoopServices services(RedisLinks redis) {
        KeyLoader loading = new KeyLoader(base.vertx(), redis, base.shards(), claims.settleTimeout());
        PacketService packets = parts.packets().packets();
        DrawService draws = parts.draws().draws(loading);
        Accounting accounting = parts.accounting();
        Campaigns campaigns = parts.campaigns();
        return new LoopServices(
                redis,
                parts.packets().claims(redis, accounting.restrictions(), admission, claimSettings()),
                packets,
                new FeedService(
                        base.vertx(),
                        parts.feeds().following(),
                        parts.feeds().reader(),
                        packets,
                        campaigns.rainCatalog(),
                        parts.profiles()),
                new Services.Hosted(
                        draws,
                        parts.draws().plays(redis, admission, accounting.restrictions(), attempts()),
                        new Wins(draws, new WinStore(base.pools().requests())),
                        campaigns.campaigns(loading, packets),
                        campaigns.rains(base.vertx(), loading, packets, accounting.restrictions())),
                new HostServices.Support(
                        parts.packets().files(),
                        parts.packets().closing(redis, claims.settleTimeout()),
                        parts.draws().files(),
                        accounting.deposits()));
    }

    private ClaimSettings claimSettings() {
        return new ClaimSettings(attempts(), base.config().log().slowClaim());
    }

    private AttemptSettings attempts() {
        int perLoop =
                Math.max(1, claims.maxWaiting() / base.config().web().http().effectiveEventLoops());
        return new AttemptSettings(
                claims.batchSize(),
                perLoop,
                perLoop,
                base.config().engine().journal().maxEntries(),
                claims.settleTimeout());
    }
}
