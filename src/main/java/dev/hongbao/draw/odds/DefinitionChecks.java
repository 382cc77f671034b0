package dev.hongbao.draw.odds;

import dev.hongbao.draw.odds.DrawDefinition.Mode;
import dev.hongbao.draw.odds.DrawDefinition.WhenExhausted;
import dev.hongbao.values.Asset;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.Text;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The rules between the fields of a definition. Each field is already well-formed. */
final class DefinitionChecks {
    private static final int MAX_PERIODS = 100_000;

    private final DrawDefinition definition;
    private final List<FieldFault> faults;

    private DefinitionChecks(DrawDefinition definition, List<FieldFault> faults) {
        this.definition = definition;
        this.faults = faults;
    }

    /** Adds all errors to {@code faults}. */
    static void check(DrawDefinition definition, List<FieldFault> faults) {
        DefinitionChecks rules = new DefinitionChecks(definition, faults);
        rules.times();
        rules.prizes();
        rules.fallback();
        rules.money();
        rules.guarantees();
        if (definition.mode() == Mode.SCHEDULE) {
            rules.schedule();
        }
    }

    /**
     * Checks a definition again when more of it is known.
     *
     * @throws InvalidInputException with all faults
     */
    static void require(DrawDefinition definition) {
        List<FieldFault> found = new ArrayList<>();
        check(definition, found);
        if (!found.isEmpty()) {
            throw InvalidInputException.of(found);
        }
    }

    /**
     * Checks the rules for new draws, which older draws may break.
     *
     * <p>A table's round is over when all of it is won. In a table that repeats, a limit per user could leave prizes that no present user
     * may win. The round would never end, and a new user would be sure to win them.
     *
     * @throws InvalidInputException with all faults
     */
    static void requireOfNew(DrawDefinition definition) {
        List<FieldFault> found = new ArrayList<>();
        DefinitionChecks rules = new DefinitionChecks(definition, found);
        boolean beginsAnew = definition.whenExhausted() == WhenExhausted.REPEAT
                || definition.whenExhausted() == WhenExhausted.RESCALE;
        for (int i = 0; i < definition.prizes().size(); i++) {
            rules.require(
                    !beginsAnew || definition.prizes().get(i).perUser() == 0,
                    "#/prizes/" + i + "/perUser",
                    Text.of("prize.round-never-ends"));
        }
        if (!found.isEmpty()) {
            throw InvalidInputException.of(found);
        }
    }

    private void require(boolean kept, String pointer, Text detail) {
        if (!kept) {
            faults.add(new FieldFault(pointer, detail));
        }
    }

    private void times() {
        Instant opensAt = definition.opensAt();
        require(
                opensAt == null || opensAt.isBefore(definition.closesAt()),
                "#/closesAt",
                Text.of("draw.closes-before-opening"));
    }

    private void prizes() {
        List<Prize> prizes = definition.prizes();
        require(!prizes.isEmpty(), "#/prizes", Text.of("prize.none"));
        long sum = 0;
        Set<String> names = new HashSet<>();
        for (int i = 0; i < prizes.size(); i++) {
            Prize prize = prizes.get(i);
            sum += prize.chance(); // at most 200 * 10^12
            require(names.add(prize.name()), "#/prizes/" + i + "/name", Text.of("prize.name-twice"));
            Long stock = prize.stock();
            boolean fullRounds = definition.mode() == Mode.TABLE
                    && definition.whenExhausted() != WhenExhausted.RESCALE
                    && stock != null;
            require(
                    !fullRounds || Objects.requireNonNull(stock) >= prize.chance(),
                    "#/prizes/" + i + "/stock",
                    Text.of("prize.stock-of-count"));
            require(
                    definition.mode() != Mode.SCHEDULE || stock != null,
                    "#/prizes/" + i + "/stock",
                    Text.of("prize.stock-of-schedule"));
        }
        require(
                definition.mode() == Mode.SCHEDULE || sum <= Chance.MAX_BOUND,
                "#/prizes",
                Text.of("prize.sum", Chance.MAX_BOUND));
    }

    private void fallback() {
        boolean has = definition.fallback() != null;
        boolean tableStops = definition.mode() == Mode.TABLE && definition.whenExhausted() == WhenExhausted.STOP;
        require(
                definition.mode() == Mode.TABLE || definition.whenExhausted() == WhenExhausted.STOP,
                "#/whenExhausted",
                Text.of("draw.mode-table"));
        require(
                has || definition.whenExhausted() != WhenExhausted.FALLBACK,
                "#/fallback",
                Text.of("draw.fallback-needed"));
        require(!has || !tableStops, "#/fallback", Text.of("draw.fallback-never-given"));
        boolean limited = definition.prizes().stream().anyMatch(prize -> prize.stock() != null || prize.perUser() > 0);
        require(
                has || definition.mode() != Mode.WEIGHTS || !limited,
                "#/fallback",
                Text.of("draw.fallback-for-limits"));
        require(has || definition.mode() != Mode.SCHEDULE, "#/fallback", Text.of("draw.fallback-of-schedule"));
    }

    /** All awards are in escrow from the start, so their total must be known. */
    private void money() {
        Map<Asset, Long> sums = new HashMap<>();
        List<Prize> prizes = definition.allPrizes();
        for (int i = 0; i < prizes.size(); i++) {
            Prize prize = prizes.get(i);
            String pointer = i < definition.prizes().size() ? "#/prizes/" + i : "#/fallback";
            Long stock = prize.stock();
            int codes = prize.award().codes().size();
            require(
                    codes == 0 || (stock != null && stock <= codes),
                    pointer + "/stock",
                    Text.of("prize.stock-of-codes"));
            Asset asset = prize.award().asset();
            if (asset == null) {
                continue;
            }
            require(stock != null, pointer + "/stock", Text.of("prize.stock-for-amount"));
            long most = Asset.MAX_AMOUNT / prize.award().amount();
            if (stock != null && stock <= most) {
                sums.merge(asset, stock * prize.award().amount(), Long::sum); // at most 201 * 10^14
            } else if (stock != null) {
                faults.add(new FieldFault(pointer + "/stock", Text.of("prize.stock-of-amount", most)));
            }
        }
        sums.forEach((asset, sum) ->
                require(sum <= Asset.MAX_AMOUNT, "#/prizes", Text.of("prize.total-limit", Asset.MAX_AMOUNT, asset)));
    }

    private void guarantees() {
        Set<String> classes = new HashSet<>();
        List<DrawDefinition.Guarantee> guarantees = definition.guarantees();
        for (int i = 0; i < guarantees.size(); i++) {
            String named = guarantees.get(i).category();
            String pointer = "#/guarantees/" + i + "/category";
            require(classes.add(named), pointer, Text.of("guarantee.twice"));
            require(
                    definition.prizes().stream().anyMatch(prize -> named.equals(prize.category())),
                    pointer,
                    Text.of("guarantee.no-category"));
        }
        Prize fallback = definition.fallback();
        require(
                fallback == null || fallback.category() == null || !classes.contains(fallback.category()),
                "#/fallback/category",
                Text.of("guarantee.fallback"));
    }

    private void schedule() {
        DrawDefinition.Schedule schedule = Objects.requireNonNull(definition.schedule());
        long releases = 0;
        int boosted = schedule.boosts().stream()
                .mapToInt(DrawDefinition.Boost::times)
                .max()
                .orElse(1);
        for (Prize prize : definition.prizes()) {
            releases += Math.min(DrawDefinition.MAX_RELEASES + 1L, prize.chance()) * Math.max(1, boosted);
        }
        require(
                releases <= DrawDefinition.MAX_RELEASES,
                "#/prizes",
                Text.of("prize.quotas", DrawDefinition.MAX_RELEASES));
        Instant opensAt = definition.opensAt();
        if (opensAt != null && opensAt.isBefore(definition.closesAt())) {
            Duration open = Duration.between(opensAt, definition.closesAt());
            require(
                    open.toSeconds() / schedule.period().toSeconds() < MAX_PERIODS,
                    "#/schedule/periodSeconds",
                    Text.of("draw.too-many-periods", MAX_PERIODS));
        }
    }
}
