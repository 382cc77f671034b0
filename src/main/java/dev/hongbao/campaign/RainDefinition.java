package dev.hongbao.campaign;

import dev.hongbao.campaign.CampaignDefinition.PoolShape;
import dev.hongbao.packet.PacketService;
import dev.hongbao.packet.PoolTerms;
import dev.hongbao.packet.split.SplitAlgorithm;
import dev.hongbao.values.Asset;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.Members;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.Text;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * A sponsor's definition of a rain.
 *
 * @param budget minor units, all of it in the drops
 * @param members the audience, beside the members of its channel
 * @param claiming of all its drops; its total is the most shares of one user
 */
public record RainDefinition(
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
        Instant startsAt = given == null ? now.plus(LEAD) : moment(given);
        JsonObject claiming = new JsonObject().put("total", body.getInteger("catchesPerUser"));
        if (body.containsKey("token")) {
            claiming.put("token", body.getJsonObject("token"));
        }
        return body.copy()
                .put("startsAt", startsAt.truncatedTo(ChronoUnit.MILLIS).toString())
                .put("claiming", claiming);
    }

    private static Instant moment(String startsAt) {
        try {
            return OffsetDateTime.parse(startsAt).toInstant();
        } catch (DateTimeException unreadable) {
            throw InvalidInputException.of("#/startsAt", Text.of("field.not-allowed", unreadable.getMessage()));
        }
    }

    /** Reads a stored definition. */
    static RainDefinition read(JsonObject stored) {
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
        return new RainDefinition(
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
