package dev.hongbao.domain.campaign;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.packet.PoolTerms;

/**
 * What never changes of a campaign.
 *
 * @param shard where it and all its pools live
 * @param sponsor who made it: its wallet pays the budget, and gets what is left
 */
public record Campaign(CampaignId id, int shard, UserId sponsor, CampaignDefinition definition) {
    /** What makes a packet a pool of it. */
    PoolTerms pool(String product, UserId opener) {
        return new PoolTerms(id.value(), shard, definition.name(), product, opener, definition.claiming());
    }
}
