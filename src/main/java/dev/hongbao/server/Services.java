package dev.hongbao.server;

import dev.hongbao.campaign.CampaignService;
import dev.hongbao.campaign.RainService;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.draw.DrawService;
import dev.hongbao.draw.PlayService;
import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.feed.FeedService;
import dev.hongbao.packet.ClaimService;
import dev.hongbao.packet.PacketService;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.core.Vertx;

/** The services of one event loop, with its own links to Redis. Confined to that loop. Only this package, benchmarks and tests name it. */
public final class Services {
    public final ClaimService claims;
    public final PacketService packets;
    public final DrawService draws;
    public final PlayService plays;
    public final CampaignService campaigns;
    public final RainService rains;
    public final FeedService feed;
    /** The links that {@link #close} closes. */
    public final RedisLinks redis;

    /** @param redis links of the current event loop; {@link #close} closes them */
    Services(Engine engine, RedisLinks redis) {
        this.redis = redis;
        Vertx vertx = engine.vertx;
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
        this.packets = engine.packets.service;
        this.claims = engine.packets.claims(attempts, engine.restrictions);
        this.draws = engine.draws.service(keys);
        this.plays = engine.draws.plays(attempts, engine.restrictions);
        this.campaigns = engine.campaigns.service(keys, packets);
        this.rains = engine.campaigns.rains(vertx, keys, packets, engine.restrictions);
        this.feed = engine.feeds.service(packets, engine.campaigns, engine.profiles);
    }

    /** Call it after the last answer. */
    public Future<Void> close() {
        return redis.close();
    }
}
