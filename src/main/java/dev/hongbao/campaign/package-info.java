/**
 * Campaigns: a sponsor's budget, from which users open pools, and rains (红包雨), whose pools the server opens at drawn moments. A pool is a
 * packet.
 *
 * <p>{@code CampaignService} moves the budget into its escrow. Users open pools until the end, unless the campaign is paused.
 * {@code RainService} draws the moments, and writes the rain with all its drops in one transaction; each drop opens at its moment. At the
 * end {@code CampaignOwnerTask} ends the open pools. After the last close the remainder returns to the sponsor, and the keys leave Redis.
 * {@code CampaignComparison} checks Redis for {@code reconcile}.
 *
 * <p>Public: the door {@code Campaigns}; {@code CampaignService} and {@code RainService}, which the faces call; the nouns {@code Campaign}
 * and {@code Rain}. {@code feed} asks the door for audiences and rains. Services belong to one event loop; stores and catalogs are
 * thread-safe.
 *
 * <p>A campaign and its pools live in one shard, and its limits hold over all of them. Postgres decides who may open. The remainder is
 * returned once. Nobody sees a drop before its moment, not even the host.
 *
 * <p>Begin with {@code Campaigns}, which makes the services, then {@code CampaignService} and {@code RainService}. A call begins in
 * {@code CampaignRoutes}.
 */
@NullMarked
package dev.hongbao.campaign;

import org.jspecify.annotations.NullMarked;
