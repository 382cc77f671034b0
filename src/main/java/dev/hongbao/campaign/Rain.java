package dev.hongbao.campaign;

import dev.hongbao.campaign.Campaign.Definition.PoolShape;
import dev.hongbao.packet.Claim;
import dev.hongbao.packet.PacketService;
import dev.hongbao.packet.PoolTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Members;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.Named;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Text;
import dev.hongbao.values.Times;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fixed facts of a rain.
 *
 * @param id also the id of the campaign with its money
 * @param shard of the rain and all its drops
 * @param sponsor who made it: its wallet pays the budget and gets the remainder
 * @param commitment to its moments: 64 hexadecimal digits
 */
public record Rain(CampaignId id, int shard, UserId sponsor, Definition definition, String commitment) {
    /** The group of its drops, with their feed. */
    public GroupId channel() {
        return GroupId.channel(id.value());
    }

    /** The audience, which may follow the rain and catch. */
    public Members members() {
        return definition.members().and(channel());
    }

    /** Writes the terms that a client needs before the rain begins. */
    public void writeTerms(JsonText json) {
        Definition.Fall fall = definition.fall();
        json.plain("startsAt", fall.startsAt().toString())
                .plain("lastAt", fall.lastAt().toString())
                .field("drops", fall.drops())
                .field("sharesPerDrop", fall.drop().shares())
                .field("catchesPerUser", definition.claiming().limits().total())
                .field("firstTapWithin", fall.firstTapWithinMillis())
                .plain("commitment", commitment);
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

    /**
     * A rain as one viewer sees it.
     *
     * @param endsAt as planned, or the moment of the cancel
     * @param cancelledAt null for a rain that was not cancelled
     * @param fallen drops, in the order of their moments
     * @param mine the viewer's settled catches
     * @param seed of the moments, 64 hexadecimal digits; null until the end
     */
    public record View(
            Rain rain,
            Status status,
            Instant endsAt,
            @Nullable Instant cancelledAt,
            Caught caught,
            List<Drop> fallen,
            List<Claim> mine,
            @Nullable String seed) {
        public View {
            fallen = List.copyOf(fallen);
            mine = List.copyOf(mine);
        }

        /** A copy with the fallen drops. */
        View with(List<Drop> drops) {
            return new View(rain, status, endsAt, cancelledAt, caught, drops, mine, seed);
        }

        /** A copy with the viewer's catches. */
        View caughtBy(List<Claim> claims) {
            return new View(rain, status, endsAt, cancelledAt, caught, fallen, claims, seed);
        }

        /**
         * The settled catches of a rain.
         *
         * @param shares on all drops
         * @param amount of the closed drops, minor units; with open drops, their last share could be computed
         * @param returned to the sponsor at the end
         */
        public record Caught(int shares, long amount, long returned) {}

        /**
         * A fallen drop.
         *
         * @param amount in all its shares, minor units
         * @param over true if no share can be caught any more
         */
        public record Drop(PacketId packet, Instant fellAt, long amount, boolean over) {}

        /** The state of a rain. */
        public enum Status implements Named {
            /** Before its start. */
            PLANNED,
            /** Its drops fall. */
            FALLING,
            /** After its end or a cancel. Its drops close, and the remainder returns to the sponsor. */
            ENDING,
            /** Over. The remainder is returned. */
            ENDED
        }
    }

    /**
     * A sponsor's definition of a rain.
     *
     * @param budget minor units, all of it in the drops
     * @param members the audience, beside the members of its channel
     * @param claiming of all its drops; its total is the most shares of one user
     */
    public record Definition(
            String name,
            Metadata metadata,
            Asset asset,
            long budget,
            Members members,
            Fall fall,
            PoolTerms.Claiming claiming) {
        /** The most shares in all drops of a rain, as of one packet. */
        private static final int MAX_SHARES = 100_000;

        /** The default time from the creation to the start. Clients need it to get the announcement. */
        private static final Duration LEAD = Duration.ofSeconds(3);

        /** The longest time from now to the start. */
        private static final Duration FURTHEST = Duration.ofDays(3_660);

        private static final int EXPECTED_USERS = 1_000;

        /**
         * The times and shapes of the drops. Times are whole milliseconds.
         *
         * @param drops 1 or more
         * @param drop the shape of each; it lives until the rain ends
         * @param expectedUsers users who may tap at the same time
         */
        public record Fall(Instant startsAt, Duration lasts, int drops, PoolShape drop, int expectedUsers) {
            private static final long LONGEST_TAIL_MILLIS = 3_000;
            private static final long LONGEST_SPREAD_MILLIS = 5_000;

            /**
             * Half of the slowest settlement rate on two small cores, 20,000 claims a second on one packet. See the guide's page on benchmarks.
             */
            private static final int TAPS_A_MILLI = 10;

            public Instant endsAt() {
                return startsAt.plus(lasts);
            }

            /**
             * The latest moment of a drop. It is before the end by a quarter of the rain, at most 3 s, so that the last drop can still be
             * caught.
             */
            public Instant lastAt() {
                return endsAt().minusMillis(Math.min(LONGEST_TAIL_MILLIS, lasts.toMillis() / 4));
            }

            /** Milliseconds over which clients spread their first tap at random: one for ten users, at most 5 s and half of the rain. */
            public long firstTapWithinMillis() {
                return Math.min(expectedUsers / TAPS_A_MILLI, Math.min(LONGEST_SPREAD_MILLIS, lasts.toMillis() / 2));
            }

            /**
             * The amount of a drop, minor units. Drops differ by one unit at most.
             *
             * @param n from 0
             */
            long amountOf(int n, long budget) {
                return budget / drops + (n < budget % drops ? 1 : 0);
            }
        }

        /**
         * The stored form of a definition that fits the contract's {@code RainDefinition}: the sponsor's fields, the start, and the limit in
         * the form of every campaign.
         *
         * @throws InvalidInputException for an invalid start
         */
        static JsonObject stored(JsonObject body, Instant now) {
            String given = body.getString("startsAt");
            Instant startsAt = given == null ? now.plus(LEAD) : Times.read("#/startsAt", given);
            JsonObject claiming = new JsonObject().put("total", body.getInteger("catchesPerUser"));
            if (body.containsKey("token")) {
                claiming.put("token", body.getJsonObject("token"));
            }
            return body.copy()
                    .put("startsAt", startsAt.truncatedTo(ChronoUnit.MILLIS).toString())
                    .put("claiming", claiming);
        }

        /** Reads a stored definition. */
        static Definition read(JsonObject stored) {
            Duration lasts = Duration.ofSeconds(stored.getInteger("durationSeconds"));
            long budget = stored.getLong("budget");
            int drops = stored.getInteger("drops");
            Members members = PoolTerms.audience(stored);
            PoolShape drop = new PoolShape(
                    stored.getInteger("sharesPerDrop"),
                    budget / drops,
                    budget / drops + (budget % drops == 0 ? 0 : 1),
                    stored.getLong("min"),
                    stored.getLong("max"),
                    SplitAlgorithm.of(stored.getString("split", "double-mean")),
                    lasts);
            return new Definition(
                    stored.getString("name"),
                    Metadata.ofJson(stored.getJsonObject("metadata")),
                    new Asset(stored.getString("asset")),
                    budget,
                    members,
                    new Fall(
                            Instant.parse(stored.getString("startsAt")),
                            lasts,
                            drops,
                            drop,
                            stored.getInteger("expectedUsers", EXPECTED_USERS)),
                    PoolTerms.Claiming.read(ZoneId.of("UTC"), stored.getJsonObject("claiming"), members));
        }

        /**
         * The rules for a new definition, beside the schema's. Postgres checks separately that it starts after now.
         *
         * @throws InvalidInputException with all errors
         */
        void require(Instant now, PacketService.Limits limits) {
            List<FieldFault> faults = new ArrayList<>();
            PoolShape drop = fall.drop();
            if (members.everyone() != members.groups().isEmpty()) {
                faults.add(new FieldFault("#/groups", Text.of("rain.groups-or-public")));
            }
            if (members.groups().stream().anyMatch(group -> group.isChannel())) {
                faults.add(new FieldFault("#/groups", Text.of("rain.channels")));
            }
            if (fall.startsAt().isAfter(now.plus(FURTHEST))) {
                faults.add(new FieldFault("#/startsAt", Text.of("rain.starts-late", FURTHEST.toDays())));
            }
            if (fall.lasts().compareTo(limits.maxExpiry()) > 0) {
                faults.add(new FieldFault(
                        "#/durationSeconds",
                        Text.of("number.at-most", limits.maxExpiry().toSeconds())));
            }
            if (drop.shares() > limits.maxCount()) {
                faults.add(new FieldFault("#/sharesPerDrop", Text.of("number.at-most", limits.maxCount())));
            }
            if ((long) fall.drops() * drop.shares() > MAX_SHARES) {
                faults.add(new FieldFault("#/drops", Text.of("rain.too-many-shares", MAX_SHARES)));
            }
            Text reason = drop.infeasible();
            if (reason != null) {
                faults.add(new FieldFault("#/budget", Text.of("split.not-possible", reason)));
            }
            if (!faults.isEmpty()) {
                throw InvalidInputException.of(faults);
            }
        }
    }
}
