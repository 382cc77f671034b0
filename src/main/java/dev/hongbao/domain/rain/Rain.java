package dev.hongbao.domain.rain;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Members;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.campaign.CampaignId;
import dev.hongbao.domain.packet.PoolTerms;

/**
 * What never changes of a rain.
 *
 * @param id also the campaign's that holds its money
 * @param shard where it and all its drops live
 * @param sponsor who made it: its wallet pays the budget, and gets what is left
 * @param commitment to its moments: 64 hexadecimal digits
 */
public record Rain(CampaignId id, int shard, UserId sponsor, RainDefinition definition, String commitment) {
    /** The group of its drops, whose feed tells of them. */
    public GroupId channel() {
        return GroupId.channel(id.value());
    }

    /** Who may follow it and catch. */
    public Members members() {
        return definition.members().and(channel());
    }

    boolean isFor(Caller caller) {
        return members().include(caller);
    }

    /** What makes a packet its drop. @param n from 1, in the order of the moments */
    PoolTerms drop(int n) {
        return new PoolTerms(id.value(), shard, definition.name(), "drop-" + n, sponsor, definition.claiming());
    }
}
