package dev.hongbao.campaign;

import dev.hongbao.packet.PoolTerms;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.UserId;

/**
 * The fixed facts of a campaign.
 *
 * @param shard of the campaign and all its pools
 * @param sponsor who made it: its wallet pays the budget and gets the remainder
 */
public record Campaign(CampaignId id, int shard, UserId sponsor, CampaignDefinition definition) {
    /** The terms of a new pool. */
    PoolTerms pool(String product, UserId opener) {
        return new PoolTerms(id.value(), shard, definition.name(), product, opener, definition.claiming());
    }
}
