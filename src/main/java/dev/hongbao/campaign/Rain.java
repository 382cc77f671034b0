package dev.hongbao.campaign;

import dev.hongbao.packet.PoolTerms;
import dev.hongbao.values.Caller;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Members;
import dev.hongbao.values.UserId;

/**
 * The fixed facts of a rain.
 *
 * @param id also the id of the campaign with its money
 * @param shard of the rain and all its drops
 * @param sponsor who made it: its wallet pays the budget and gets the remainder
 * @param commitment to its moments: 64 hexadecimal digits
 */
public record Rain(CampaignId id, int shard, UserId sponsor, RainDefinition definition, String commitment) {
    /** The group of its drops, with their feed. */
    public GroupId channel() {
        return GroupId.channel(id.value());
    }

    /** The audience, which may follow the rain and catch. */
    public Members members() {
        return definition.members().and(channel());
    }

    boolean isFor(Caller caller) {
        return members().include(caller);
    }

    /**
     * The terms of one of its drops.
     *
     * @param n from 1, in the order of the moments
     */
    PoolTerms drop(int n) {
        return new PoolTerms(id.value(), shard, definition.name(), "drop-" + n, sponsor, definition.claiming());
    }
}
