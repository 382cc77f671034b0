package dev.hongbao.packet;

import dev.hongbao.values.Caller;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Members;
import dev.hongbao.values.Reason;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The terms that make a packet a pool: the paying campaign, the product, the opener and the campaign's rules for claims. Immutable.
 *
 * @param campaign its id; as text it is the packet's sender
 * @param shard the campaign's shard, shared by all its pools
 * @param name the campaign's
 * @param product see {@link #PRODUCT}
 * @param opener the user who opened the pool
 */
public record PoolTerms(UUID campaign, int shard, String name, String product, UserId opener, Claiming claiming) {
    /** The pattern of a product, also in the contract. Without spaces: the campaign's hash in Redis uses a space as a mark. */
    public static final String PRODUCT = "[A-Za-z0-9_][A-Za-z0-9._~@|+=:/-]{0,63}";

    /** The public facts of a pool. */
    public record Label(UUID campaign, String name, String product, UserId opener) {}

    public Label label() {
        return new Label(campaign, name, product, opener);
    }

    /** Reads the audience of a rain's definition. */
    public static Members audience(JsonObject rain) {
        return new Members(
                rain.getBoolean("everyone", false),
                texts(rain.getJsonArray("groups")).map(GroupId::new).collect(Collectors.toSet()));
    }

    private static Stream<String> texts(@Nullable JsonArray list) {
        return list == null ? Stream.empty() : list.stream().map(String.class::cast);
    }

    /**
     * The campaign's rules for claimers and their limits.
     *
     * @param zone of the day's start
     * @param users the allowed claimers; empty for all
     * @param token a rule on the claimer's token; null for none
     * @param members who else may see and claim, beside the packet's group: the audience, for a rain's drop
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

        /**
         * Reads {@code claiming} of a definition that was checked against the contract.
         *
         * @param zone of the definition
         * @param claiming null for no rule
         * @throws IllegalArgumentException where a name is not allowed
         */
        public static Claiming read(ZoneId zone, @Nullable JsonObject claiming, Members members) {
            if (claiming == null) {
                return new Claiming(zone, Limits.NONE, Set.of(), null, members);
            }
            JsonObject token = claiming.getJsonObject("token");
            return new Claiming(
                    zone,
                    new Limits(
                            claiming.getInteger("total", 0),
                            claiming.getInteger("aDay", 0),
                            claiming.getInteger("aProduct", 0)),
                    texts(claiming.getJsonArray("users")).map(UserId::new).collect(Collectors.toSet()),
                    token == null
                            ? null
                            : new TokenRule(
                                    token.getString("name"),
                                    texts(token.getJsonArray("values")).collect(Collectors.toSet())),
                    members);
        }

        /** The campaign's reason why {@code caller} may not claim; null for none. Ignores groups. */
        public @Nullable Reason unfit(Caller caller) {
            if (!users.isEmpty() && !users.contains(caller.user())) {
                return Reason.USER;
            }
            return token == null || token.admits(caller) ? null : Reason.TRAIT;
        }

        /** The day number of a moment in the campaign's zone, from 1970-01-01. */
        public long dayOf(Instant moment) {
            return moment.atZone(zone).toLocalDate().toEpochDay();
        }
    }

    /**
     * A user's limits on claims over all pools of a campaign; 0 = no limit.
     *
     * @param total for all time
     * @param aDay for one day
     * @param aProduct for one product's pools
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
}
