package dev.hongbao.server;

import dev.hongbao.domain.campaign.CampaignService;
import dev.hongbao.domain.claim.ClaimService;
import dev.hongbao.domain.draw.DrawService;
import dev.hongbao.domain.feed.FeedService;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.domain.play.PlayService;
import dev.hongbao.domain.rain.RainService;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.web.http.HostServices;
import dev.hongbao.web.http.Services;

/** The services of one event loop, with its own links to Redis. Use them on that loop only. */
public record LoopServices(
        RedisLinks redis,
        ClaimService claims,
        PacketService packets,
        FeedService feed,
        Services.Hosted hosted,
        HostServices.Support support) {
    public DrawService draws() {
        return hosted.draws();
    }

    public PlayService plays() {
        return hosted.plays();
    }

    public CampaignService campaigns() {
        return hosted.campaigns();
    }

    public RainService rains() {
        return hosted.rains();
    }
}
