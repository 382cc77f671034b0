package dev.hongbao.domain.campaign;

import dev.hongbao.common.json.FieldFault;
import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.Metadata;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Members;
import dev.hongbao.domain.campaign.CampaignDefinition.PoolShape;
import dev.hongbao.domain.campaign.CampaignDefinition.Range;
import dev.hongbao.domain.campaign.CampaignDefinition.Window;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.domain.packet.PoolTerms;
import dev.hongbao.domain.split.SplitAlgorithm;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/** Reads definitions from JSON that fits the contract's schema {@code CampaignDefinition}. Pure. */
public final class CampaignText {
    /** The longest time from now to the opening, and from the opening to the end. */
    static final Duration LONGEST = Duration.ofDays(3_660);

    private CampaignText() {}

    /**
     * Reads a definition, new or stored.
     *
     * @throws InvalidInputException for an unknown zone or another value that the schema cannot check
     */
    public static CampaignDefinition read(JsonObject body) {
        JsonObject pool = body.getJsonObject("pool");
        ZoneId zone = zone(body);
        return new CampaignDefinition(
                body.getString("name"),
                Metadata.ofJson(body.getJsonObject("metadata")),
                named("#/asset", body.getString("asset"), Asset::new),
                body.getLong("budget"),
                new Window(body.getString("opensAt") == null ? null : moment(body, "opensAt"), moment(body, "endsAt")),
                new PoolShape(
                        pool.getInteger("shares"),
                        amount(pool),
                        pool.getLong("min"),
                        pool.getLong("max"),
                        named("#/pool/split", pool.getString("split", "double-mean"), SplitAlgorithm::of),
                        Duration.ofSeconds(pool.getInteger("livesSeconds"))),
                named(
                        "#/claiming",
                        body,
                        definition ->
                                PoolTerms.Claiming.read(zone, definition.getJsonObject("claiming"), Members.NONE)));
    }

    /** The zone of the campaign's days, also stored in its row. */
    static ZoneId zone(JsonObject body) {
        String name = body.getString("zone", "UTC");
        // In Postgres an offset such as +08:00 has the opposite sign.
        if (!ZoneId.getAvailableZoneIds().contains(name)) {
            throw InvalidInputException.of("#/zone", Text.of("campaign.zone"));
        }
        return ZoneId.of(name);
    }

    private static Range amount(JsonObject pool) {
        if (pool.getValue("amount") instanceof JsonObject range) {
            return new Range(range.getLong("from"), range.getLong("to"));
        }
        long amount = pool.getLong("amount");
        return new Range(amount, amount);
    }

    private static Instant moment(JsonObject body, String field) {
        return named(
                "#/" + field,
                body.getString(field),
                text -> OffsetDateTime.parse(text).toInstant().truncatedTo(ChronoUnit.MICROS));
    }

    private static <V, T> T named(String pointer, V value, Function<V, T> reader) {
        try {
            return reader.apply(value);
        } catch (IllegalArgumentException | DateTimeException unreadable) {
            throw InvalidInputException.of(pointer, Text.of("field.not-allowed", unreadable.getMessage()));
        }
    }

    /**
     * The rules for a new definition, beside the schema's.
     *
     * @throws InvalidInputException with all errors
     */
    static void require(CampaignDefinition definition, Instant now, PacketService.Limits limits) {
        List<FieldFault> faults = new ArrayList<>();
        Window window = definition.window();
        Instant opensAt = Objects.requireNonNullElse(window.opensAt(), now);
        if (!window.endsAt().isAfter(opensAt) || !window.endsAt().isAfter(now)) {
            faults.add(new FieldFault("#/endsAt", Text.of("campaign.ends-early")));
        }
        if (opensAt.isAfter(now.plus(LONGEST)) || window.endsAt().isAfter(opensAt.plus(LONGEST))) {
            faults.add(new FieldFault("#/endsAt", Text.of("campaign.ends-late", LONGEST.toDays())));
        }
        PoolShape pool = definition.pool();
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
