/**
 * Campaigns: a sponsor's budget, from which users open pools. A pool is a packet of {@code domain.packet}, claimed through {@code
 * domain.claim}.
 *
 * <p>Life of a campaign: {@code CampaignService} moves the budget into its escrow. Users open pools until its end, unless it is paused. At
 * the end {@code CampaignOwnerTask} ends its open pools. After the last close the remainder returns to the sponsor. Its keys leave Redis.
 *
 * <p>Callers: {@code web}, through {@code CampaignService}, on its event loop; {@code rain}, whose money is a campaign; {@code server},
 * which wires the owner task and the loader. The catalog is thread-safe.
 *
 * <p>Invariants: a campaign and its pools live in one shard. Its limits hold over all its pools. Postgres decides who may open. The
 * remainder is returned once.
 *
 * <p>Begin with {@code CampaignDefinition}, then {@code CampaignService}.
 */
@NullMarked
package dev.hongbao.domain.campaign;

import org.jspecify.annotations.NullMarked;
