package dev.hongbao.domain.packet;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Members;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.UserId;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What makes a packet a pool: which campaign pays it, for which product it was opened, by whom, and what the campaign says of its
 * claims. Immutable.
 *
 * @param campaign its id; as text it is the packet's sender
 * @param shard the campaign's, where all its pools live
 * @param name the campaign's
 * @param product see {@link #PRODUCT}
 * @param opener the user who opened the pool
 */
public record PoolTerms(UUID campaign, int shard, String name, String product, UserId opener, Claiming claiming) {
    /** The pattern of a product, also the contract's. No space: the hash of a campaign in Redis uses it as a mark. */
    public static final String PRODUCT = "[A-Za-z0-9_][A-Za-z0-9._~@|+=:/-]{0,63}";

    /** What everybody may know of a pool. */
    public record Label(UUID campaign, String name, String product, UserId opener) {}

    /** What everybody may know of it. */
    public Label label() {
        return new Label(campaign, name, product, opener);
    }

    /**
     * Who may claim, and how often.
     *
     * @param zone in which a day begins
     * @param users who may claim; empty for all
     * @param token what the claimer's token must say; null for nothing
     * @param members of what else than the packet's group may see and claim it: of a rain's drop, whom the rain is for
     */
    public record Claiming(
            ZoneId zone,
            Limits limits,
            Set<UserId> users,
            @Nullable TokenRule token,
            Members members) {
        public Claiming {
            users = Set.copyOf(users);
        }

        /** Why {@code caller} may not claim, as far as the campaign says, which says nothing of groups; null for a caller who may. */
        public @Nullable Reason unfit(Caller caller) {
            if (!users.isEmpty() && !users.contains(caller.user())) {
                return Reason.USER;
            }
            return token == null || token.admits(caller) ? null : Reason.TRAIT;
        }

        /** The number of a moment's day in the campaign's zone, from 1970-01-01. */
        public long dayOf(Instant moment) {
            return moment.atZone(zone).toLocalDate().toEpochDay();
        }
    }

    /**
     * Claims that one user may have on all pools of a campaign; 0 = no limit.
     *
     * @param total in all
     * @param aDay on one day
     * @param aProduct on pools of one product
     */
    public record Limits(int total, int aDay, int aProduct) {
        /** No limit at all. */
        public static final Limits NONE = new Limits(0, 0, 0);

        /** Whether claims have to be counted. */
        public boolean any() {
            return total > 0 || aDay > 0 || aProduct > 0;
        }
    }

    /** The token's claim {@code name} must be one of {@code values}. */
    public record TokenRule(String name, Set<String> values) {
        public TokenRule {
            values = Set.copyOf(values);
        }

        boolean admits(Caller caller) {
            String value = caller.traits().get(name);
            return value != null && values.contains(value);
        }
    }

    /** All that a repetition of the same opening has in common, in one text: not the amount, which may be drawn. */
    String wish(GroupId group) {
        return "pool of " + campaign + " for " + product + " in " + group;
    }
}
