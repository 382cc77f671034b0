package dev.hongbao.draw.odds;

import dev.hongbao.draw.odds.DrawDefinition.Boost;
import dev.hongbao.draw.odds.DrawDefinition.Cost;
import dev.hongbao.draw.odds.DrawDefinition.Guarantee;
import dev.hongbao.draw.odds.DrawDefinition.Limits;
import dev.hongbao.draw.odds.DrawDefinition.Mode;
import dev.hongbao.draw.odds.DrawDefinition.Schedule;
import dev.hongbao.draw.odds.DrawDefinition.WhenExhausted;
import dev.hongbao.draw.odds.Prize.Award;
import dev.hongbao.values.Asset;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.PictureUrl;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A draw's definition as JSON or YAML. The reader finds all errors before it reports them. */
final class DefinitionText {
    /** More prizes than any wheel shows. A play looks at each prize. */
    private static final int MAX_PRIZES = 200;

    private static final int MAX_CODES = 100_000;
    private static final int MAX_USERS = 10_000;
    private static final int MAX_GUARANTEES = 10;
    private static final int MAX_BOOSTS = 1_000;
    private static final int MAX_NAME = 100;
    private static final int MAX_TEXT = 1_000;

    /** The cost of ten plays is still a valid amount. */
    private static final long MAX_COST = Asset.MAX_AMOUNT / 10;

    private final List<FieldFault> faults = new ArrayList<>();
    private final FieldReader root;
    private final boolean stored;

    private DefinitionText(Map<String, ?> body, boolean stored) {
        this.root = new FieldReader("#", body, faults);
        this.stored = stored;
    }

    /**
     * Reads a maker's definition.
     *
     * @param body maps, lists, texts, whole numbers and booleans, as JSON and YAML decode
     * @throws InvalidInputException with all faults
     */
    static DrawDefinition read(Map<String, ?> body) {
        return new DefinitionText(body, false).definition();
    }

    /** Reads a definition from {@link #of}. */
    static DrawDefinition readStored(Map<String, ?> body) {
        return new DefinitionText(body, true).definition();
    }

    private DrawDefinition definition() {
        Mode mode = root.choice("mode", Mode.class, Mode.TABLE);
        if (!root.has("mode")) {
            root.fault("mode", Text.of("draw.mode"));
        }
        WhenExhausted whenExhausted = root.choice("whenExhausted", WhenExhausted.class, WhenExhausted.STOP);
        List<Prize> prizes = new ArrayList<>();
        for (FieldReader prize : root.objects("prizes", MAX_PRIZES)) {
            prizes.add(prize(prize, mode, whenExhausted));
        }
        FieldReader fallback = root.object("fallback");
        String name = root.requiredText("name", MAX_NAME);
        GroupId group = root.parsed("group", Text.of("group.id"), GroupId::new);
        Instant opensAt = root.moment("opensAt");
        DrawDefinition read = DrawDefinition.of(name, closesAt(), mode, prizes)
                .group(group)
                .opensAt(opensAt)
                .whenExhausted(whenExhausted)
                .fallback(fallback == null ? null : fallback(fallback))
                .cost(cost())
                .limits(limits())
                .guarantees(guarantees())
                .schedule(schedule(mode))
                .users(users("allow"), users("deny"))
                .showLeft(root.flag("showLeft", false))
                .metadata(metadata())
                .build();
        root.refuseTheRest();
        if (faults.isEmpty()) {
            DefinitionChecks.check(read, faults);
        }
        if (!faults.isEmpty()) {
            throw InvalidInputException.of(faults);
        }
        return read;
    }

    private Metadata metadata() {
        Object words = root.raw("metadata");
        if (words != null && !(words instanceof Map)) {
            root.fault("metadata", Text.of("field.object"));
            return Metadata.NONE;
        }
        try {
            return Metadata.of((Map<?, ?>) words);
        } catch (InvalidInputException refused) {
            root.fault("metadata", refused.faults().get(0).detail());
            return Metadata.NONE;
        }
    }

    private Instant closesAt() {
        Instant closesAt = root.moment("closesAt");
        if (!root.has("closesAt")) {
            root.fault("closesAt", Text.of("draw.closes-at"));
        }
        return closesAt == null ? Instant.MAX : closesAt;
    }

    private Prize prize(FieldReader prize, Mode mode, WhenExhausted whenExhausted) {
        long chance = prize.requiredWhole(chanceField(mode), 1, Chance.MAX_BOUND);
        Award award = award(prize);
        Long stock = stock(prize, award);
        if (mode == Mode.TABLE
                && stock == null
                && (whenExhausted == WhenExhausted.STOP || whenExhausted == WhenExhausted.FALLBACK)) {
            stock = chance;
        }
        Prize read = new Prize(
                prize.requiredText("name", MAX_NAME),
                prize.text("category", MAX_NAME),
                picture(prize),
                prize.shownText("text", MAX_TEXT),
                award,
                chance,
                stock,
                (int) prize.whole("perUser", 1, 1_000_000, 0));
        prize.refuseTheRest();
        return read;
    }

    private Prize fallback(FieldReader prize) {
        Award award = award(prize);
        Prize read = new Prize(
                prize.requiredText("name", MAX_NAME),
                prize.text("category", MAX_NAME),
                picture(prize),
                prize.shownText("text", MAX_TEXT),
                award,
                0,
                stock(prize, award),
                0);
        prize.refuseTheRest();
        return read;
    }

    private static @Nullable PictureUrl picture(FieldReader prize) {
        return prize.parsed("picture", Text.of("picture.too-long"), PictureUrl::new);
    }

    private @Nullable Long stock(FieldReader prize, Award award) {
        Long stock = prize.whole("stock", 1, Chance.MAX_BOUND);
        return stock == null && award.coded() && !stored
                ? Long.valueOf(award.codes().size())
                : stock;
    }

    private Award award(FieldReader prize) {
        FieldReader award = prize.object("award");
        if (award == null) {
            return Award.NOTHING;
        }
        List<String> codes = award.texts("codes", MAX_CODES, Text.of("text.length", 200), text -> {
            if (text.isBlank() || text.codePointCount(0, text.length()) > 200) {
                throw new IllegalArgumentException(text);
            }
            return text;
        });
        boolean coded = stored ? award.flag("coded", false) : award.has("codes");
        if (new HashSet<>(codes).size() < codes.size()) {
            award.fault("codes", Text.of("award.codes-repeat"));
        }
        Asset asset = award.parsed("asset", Text.of("asset.code"), Asset::new);
        long amount = award.whole("amount", 1, Asset.MAX_AMOUNT, 0);
        if ((asset == null) != (amount == 0) || (asset != null && coded) || (asset == null && !coded)) {
            award.fault("", Text.of("award.either"));
        }
        award.refuseTheRest();
        return new Award(asset, amount, coded, codes);
    }

    private @Nullable Cost cost() {
        FieldReader cost = root.object("cost");
        if (cost == null) {
            return null;
        }
        Asset asset = cost.parsed("asset", Text.of("asset.code"), Asset::new);
        if (!cost.has("asset")) {
            cost.fault("asset", Text.of("field.required"));
        }
        long amount = cost.requiredWhole("amount", 1, MAX_COST);
        cost.refuseTheRest();
        return new Cost(Objects.requireNonNullElse(asset, new Asset("X")), amount);
    }

    private Limits limits() {
        FieldReader limits = root.object("limits");
        if (limits == null) {
            return new Limits(0, 0, ZoneOffset.UTC);
        }
        ZoneId zone = limits.parsed("zone", Text.of("draw.zone"), ZoneId::of);
        Limits read = new Limits(
                limits.whole("total", 1, 1_000_000_000, 0),
                limits.whole("perDay", 1, 1_000_000_000, 0),
                Objects.requireNonNullElse(zone, ZoneOffset.UTC));
        if (read.perDay() > 0 && !limits.has("zone")) {
            limits.fault("zone", Text.of("limits.zone-needed"));
        }
        limits.refuseTheRest();
        return read;
    }

    private List<Guarantee> guarantees() {
        List<Guarantee> read = new ArrayList<>();
        for (FieldReader guarantee : root.objects("guarantees", MAX_GUARANTEES)) {
            read.add(new Guarantee(guarantee.requiredText("category", MAX_NAME), (int)
                    guarantee.requiredWhole("plays", 1, 1_000_000)));
            guarantee.refuseTheRest();
        }
        return read;
    }

    private @Nullable Schedule schedule(Mode mode) {
        FieldReader schedule = root.object("schedule");
        if (mode != Mode.SCHEDULE) {
            if (schedule != null) {
                root.fault("schedule", Text.of("draw.mode-schedule"));
            }
            return null;
        }
        if (schedule == null) {
            return new Schedule(Duration.ofHours(1), true, List.of());
        }
        List<Boost> boosts = new ArrayList<>();
        for (FieldReader boost : schedule.objects("boosts", MAX_BOOSTS)) {
            Instant from = boost.moment("from");
            Instant to = boost.moment("to");
            int times = (int) boost.requiredWhole("times", 0, 1_000);
            if (from == null || to == null || !from.isBefore(to)) {
                boost.fault("", Text.of("boost.range"));
            } else {
                boosts.add(new Boost(from, to, times));
            }
            boost.refuseTheRest();
        }
        Schedule read = new Schedule(
                Duration.ofSeconds(schedule.whole("periodSeconds", 1, 31_536_000, 3_600)),
                schedule.flag("carryOver", true),
                boosts);
        schedule.refuseTheRest();
        return read;
    }

    private Set<UserId> users(String field) {
        return Set.copyOf(root.texts(field, MAX_USERS, Text.of("user.id"), UserId::new));
    }

    /** The name of a prize's chance. */
    private static String chanceField(Mode mode) {
        return switch (mode) {
            case TABLE -> "count";
            case WEIGHTS -> "weight";
            case SCHEDULE -> "quota";
        };
    }

    /** The stored form, for {@link #readStored}: the maker's fields, without the codes, which have their own table. */
    static Map<String, Object> of(DrawDefinition definition) {
        Map<String, Object> text = new LinkedHashMap<>();
        Cost cost = definition.cost();
        Schedule schedule = definition.schedule();
        Prize fallback = definition.fallback();
        text.put("name", definition.name());
        put(text, "group", definition.group());
        put(text, "opensAt", definition.opensAt());
        put(text, "closesAt", definition.closesAt());
        text.put("mode", definition.mode().wireName());
        text.put("whenExhausted", definition.whenExhausted().wireName());
        text.put(
                "prizes",
                definition.prizes().stream()
                        .map(prize -> {
                            Map<String, Object> each = of(prize);
                            each.put(chanceField(definition.mode()), prize.chance());
                            return each;
                        })
                        .toList());
        put(text, "fallback", fallback == null ? null : of(fallback));
        put(text, "cost", cost == null ? null : of(cost.asset(), cost.amount()));
        text.put("limits", of(definition.limits()));
        text.put(
                "guarantees",
                definition.guarantees().stream()
                        .map(each -> Map.of("category", each.category(), "plays", each.plays()))
                        .toList());
        put(text, "schedule", schedule == null ? null : of(schedule));
        text.put("allow", of(definition.allow()));
        text.put("deny", of(definition.deny()));
        text.put("showLeft", definition.showLeft());
        if (!definition.metadata().isEmpty()) {
            text.put("metadata", new JsonObject(definition.metadata().json()).getMap());
        }
        return text;
    }

    private static Map<String, Object> of(Prize prize) {
        Map<String, Object> text = new LinkedHashMap<>();
        Award award = prize.award();
        text.put("name", prize.name());
        put(text, "category", prize.category());
        put(text, "picture", prize.picture());
        put(text, "text", prize.text());
        if (award.coded()) {
            text.put("award", Map.of("coded", true));
        } else if (award.asset() != null) {
            text.put("award", of(award.asset(), award.amount()));
        }
        put(text, "stock", prize.stock());
        put(text, "perUser", prize.perUser() > 0 ? prize.perUser() : null);
        return text;
    }

    private static Map<String, Object> of(Asset asset, long amount) {
        return Map.of("asset", asset.code(), "amount", amount);
    }

    private static Map<String, Object> of(Limits limits) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("zone", limits.zone().getId());
        put(text, "total", limits.total() > 0 ? limits.total() : null);
        put(text, "perDay", limits.perDay() > 0 ? limits.perDay() : null);
        return text;
    }

    private static Map<String, Object> of(Schedule schedule) {
        return Map.of(
                "periodSeconds",
                schedule.period().toSeconds(),
                "carryOver",
                schedule.carryOver(),
                "boosts",
                schedule.boosts().stream()
                        .map(each -> Map.of(
                                "from", each.from().toString(),
                                "to", each.to().toString(),
                                "times", each.times()))
                        .toList());
    }

    private static List<String> of(Set<UserId> users) {
        return users.stream().map(UserId::value).sorted().toList();
    }

    /** Adds a field; a value of no JSON type as a text, and null not at all. */
    private static void put(Map<String, Object> text, String field, @Nullable Object value) {
        if (value != null) {
            text.put(field, value instanceof Number || value instanceof Map ? value : value.toString());
        }
    }
}
