package dev.hongbao.web.http;

import dev.hongbao.domain.campaign.CampaignService;
import dev.hongbao.domain.claim.ClaimService;
import dev.hongbao.domain.draw.DrawService;
import dev.hongbao.domain.feed.FeedService;
import dev.hongbao.domain.fulfilment.Wins;
import dev.hongbao.domain.ledger.Wallets;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.domain.play.PlayService;
import dev.hongbao.domain.profile.Profiles;
import dev.hongbao.domain.rain.RainService;

/**
 * The services behind the routes.
 *
 * @param claims of this event loop only
 * @param packets of this event loop only
 * @param wallets may be shared
 * @param feed of this event loop only
 * @param profiles may be shared
 * @param hosted of this event loop only
 */
public record Services(
        ClaimService claims,
        PacketService packets,
        Wallets wallets,
        FeedService feed,
        Profiles profiles,
        Hosted hosted) {

    /** Services for draws, campaigns and rains. */
    public record Hosted(
            DrawService draws, PlayService plays, Wins wins, CampaignService campaigns, RainService rains) {}
}
