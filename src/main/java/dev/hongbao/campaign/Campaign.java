package dev.hongbao.campaign;

import dev.hongbao.packet.PacketService;
import dev.hongbao.packet.PoolTerms;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.values.Asset;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.Members;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.Named;
import dev.hongbao.values.Text;
import dev.hongbao.values.Times;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The fixed facts of a campaign.
 *
 * @param shard of the campaign and all its pools
 * @param sponsor who made it: its wallet pays the budget and gets the remainder
 */
public record Campaign(CampaignId id, int shard, UserId sponsor, Definition definition) {
    /** The terms of a new pool. */
    PoolTerms pool(String product, UserId opener) {
        return new PoolTerms(id.value(), shard, definition.name(), product, opener, definition.claiming());
    }

    /**
     * A campaign's state for its sponsor.
     *
     * @param budget the total paid in, minor units
     * @param left the balance of the campaign's escrow, minor units: not in a pool now; 0 once it is closed
     * @param returned to the sponsor at the end, minor units
     * @param opensAt the start of the current time for opening pools
     * @param endsAt its end; an early end shows here, not in the definition
     * @param pausedAt null when it is not paused
     */
    public record View(
            Campaign campaign,
            Status status,
            long budget,
            long left,
            long returned,
            Instant opensAt,
            Instant endsAt,
            @Nullable Instant pausedAt) {
        /** The state of a campaign. */
        public enum Status implements Named {
            /** Before its opening. */
            PLANNED,
            OPEN,
            /** No pool can be opened until it is resumed. */
            PAUSED,
            /** After its end. Its pools close, and the remainder returns to the sponsor. */
            ENDING,
            /** Over. The remainder is returned. */
            CLOSED
        }
    }

    /**
     * A sponsor's definition of a campaign, without the rules for openers: Postgres judges those from its stored copy.
     *
     * @param budget minor units, paid in at the creation
     * @param opensAt the first time for opening pools; null for now
     * @param endsAt the end of that time
     */
    record Definition(
            String name,
            Metadata metadata,
            Asset asset,
            long budget,
            @Nullable Instant opensAt,
            Instant endsAt,
            PoolShape pool,
            PoolTerms.Claiming claiming) {
        /** The longest time from now to the opening, and from the opening to the end. */
        private static final Duration LONGEST = Duration.ofDays(3_660);

        private static final Set<String> OTHER_IN_POSTGRES = Set.of("CET", "EET", "MET", "WET");

        /**
         * The shape of every pool.
         *
         * @param shares their number
         * @param amountFrom the least amount of a pool, minor units; the amount is drawn for each pool
         * @param amountTo the largest amount, included
         * @param min smallest share, null for 1
         * @param max largest share, null for no limit of its own
         * @param life at most until the campaign ends
         */
        public record PoolShape(
                int shares,
                long amountFrom,
                long amountTo,
                @Nullable Long min,
                @Nullable Long max,
                SplitAlgorithm split,
                Duration life) {

            /** The reason why some amount of the range cannot be split; null when all can. It is enough to check both ends. */
            public @Nullable Text infeasible() {
                if (amountFrom > amountTo) {
                    return Text.of("pool.amount-range");
                }
                if (split == SplitAlgorithm.EQUAL && amountFrom < amountTo) {
                    return Text.of("pool.equal-amount");
                }
                Text least = SplitTerms.infeasible(split, amountFrom, shares, min, max);
                return least != null ? least : SplitTerms.infeasible(split, amountTo, shares, min, max);
            }
        }

        /**
         * Reads a definition, new or stored, from JSON that fits the contract's schema {@code CampaignDefinition}.
         *
         * @throws InvalidInputException for an unknown zone or another value that the schema cannot check
         */
        public static Definition read(JsonObject body) {
            JsonObject pool = body.getJsonObject("pool");
            JsonObject range = pool.getValue("amount") instanceof JsonObject both ? both : null;
            ZoneId zone = zone(body);
            return new Definition(
                    body.getString("name"),
                    Metadata.ofJson(body.getJsonObject("metadata")),
                    new Asset(body.getString("asset")),
                    body.getLong("budget"),
                    body.getString("opensAt") == null ? null : moment(body, "opensAt"),
                    moment(body, "endsAt"),
                    new PoolShape(
                            pool.getInteger("shares"),
                            range == null ? pool.getLong("amount") : range.getLong("from"),
                            range == null ? pool.getLong("amount") : range.getLong("to"),
                            pool.getLong("min"),
                            pool.getLong("max"),
                            SplitAlgorithm.of(pool.getString("split", "double-mean")),
                            Duration.ofSeconds(pool.getInteger("livesSeconds"))),
                    PoolTerms.Claiming.read(zone, body.getJsonObject("claiming"), Members.NONE));
        }

        private static ZoneId zone(JsonObject body) {
            try {
                return ZoneId.of(body.getString("zone", "UTC"));
            } catch (DateTimeException unknown) {
                throw InvalidInputException.of("#/zone", Text.of("campaign.zone"));
            }
        }

        /** Postgres reads other names differently: +08:00 has the opposite sign there, and CET no summer time. */
        static boolean hasSameDaysInPostgres(ZoneId zone) {
            String name = zone.getId();
            return ZoneId.getAvailableZoneIds().contains(name)
                    && !OTHER_IN_POSTGRES.contains(name)
                    && !name.startsWith("SystemV/");
        }

        private static Instant moment(JsonObject body, String field) {
            return Times.read("#/" + field, body.getString(field));
        }

        /**
         * The rules for a new definition, beside the schema's.
         *
         * @throws InvalidInputException with all errors
         */
        void require(Instant now, PacketService.Limits limits) {
            List<FieldFault> faults = new ArrayList<>();
            if (!hasSameDaysInPostgres(claiming.zone())) {
                faults.add(new FieldFault("#/zone", Text.of("campaign.zone")));
            }
            Instant opening = Objects.requireNonNullElse(opensAt, now);
            if (!endsAt.isAfter(opening) || !endsAt.isAfter(now)) {
                faults.add(new FieldFault("#/endsAt", Text.of("campaign.ends-early")));
            }
            if (opening.isAfter(now.plus(LONGEST)) || endsAt.isAfter(opening.plus(LONGEST))) {
                faults.add(new FieldFault("#/endsAt", Text.of("campaign.ends-late", LONGEST.toDays())));
            }
            if (pool.shares() > limits.maxCount()) {
                faults.add(new FieldFault("#/pool/shares", Text.of("number.at-most", limits.maxCount())));
            }
            if (pool.life().compareTo(limits.maxExpiry()) > 0) {
                faults.add(new FieldFault(
                        "#/pool/livesSeconds",
                        Text.of("number.at-most", limits.maxExpiry().toSeconds())));
            }
            Text reason = pool.infeasible();
            if (reason != null) {
                faults.add(new FieldFault("#/pool", Text.of("split.not-possible", reason)));
            }
            if (!faults.isEmpty()) {
                throw InvalidInputException.of(faults);
            }
        }
    }
}
