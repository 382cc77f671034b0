package dev.hongbao.server;

import dev.hongbao.campaign.CampaignService;
import dev.hongbao.campaign.RainService;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.draw.DrawService;
import dev.hongbao.draw.PlayService;
import dev.hongbao.draw.Wins;
import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.feed.FeedService;
import dev.hongbao.packet.ClaimService;
import dev.hongbao.packet.EarlyCloser;
import dev.hongbao.packet.PacketService;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;

/** The services of one event loop, with its own links to Redis. Confined to that loop. Only this package, benchmarks and tests name it. */
public final class Services {
    public final ClaimService claims;
    public final PacketService packets;
    public final EarlyCloser closing;
    public final DrawService draws;
    public final PlayService plays;
    public final Wins wins;
    public final CampaignService campaigns;
    public final RainService rains;
    public final FeedService feed;
    /** The links that {@link #close} closes. */
    public final RedisLinks redis;

    /** @param redis links of the current event loop; {@link #close} closes them */
    Services(Engine engine, RedisLinks redis) {
        this.redis = redis;
        Vertx vertx = engine.vertx;
        Pool pool = engine.stores.pools.requests();
        HongbaoConfig.ClaimConfig limits = engine.config.domain().claim();
        int maxWaiting =
                Math.max(1, limits.maxWaiting() / engine.config.web().http().effectiveEventLoops());
        Attempts attempts = new Attempts(
                engine.loop,
                redis,
                engine.shards,
                engine.quarantine,
                engine.admission,
                new Attempts.Limits(
                        limits.batchSize(),
                        maxWaiting,
                        engine.config.engine().journal().maxEntries(),
                        limits.settleTimeout(),
                        engine.config.log().slowClaim()),
                engine.clock);
        KeyLoader keys = new KeyLoader(engine.loop, redis, engine.shards, limits.settleTimeout());
        this.packets = engine.packets;
        this.claims = new ClaimService(
                attempts,
                engine.packetStore,
                engine.packetCatalog,
                engine.endedPackets,
                engine.restrictions,
                engine.guesses,
                engine.claimMetrics,
                engine.settledClaims);
        this.closing = new EarlyCloser(
                vertx,
                engine.packetStore,
                engine.packetCatalog,
                engine.quarantine,
                engine.shards,
                redis,
                limits.settleTimeout());
        this.draws = new DrawService(
                pool, engine.shards, engine.quarantine, engine.drawStore, engine.drawCatalog, keys, engine.clock);
        this.plays = new PlayService(
                attempts,
                engine.drawCatalog,
                engine.drawStore,
                engine.playRequests,
                engine.restrictions,
                engine.playMetrics,
                engine.settledPlays);
        this.wins = new Wins(draws, pool);
        this.campaigns = new CampaignService(pool, engine.shards, engine.campaignCatalog, keys, packets, engine.clock);
        this.rains = new RainService(
                vertx, pool, engine.shards, engine.rainCatalog, keys, packets, engine.restrictions, engine.clock);
        this.feed = new FeedService(
                vertx, engine.feeds.following(), engine.feeds.reader(), packets, engine.rainCatalog, engine.profiles);
    }

    /** Call it after the last answer. */
    public Future<Void> close() {
        return redis.close();
    }
}
