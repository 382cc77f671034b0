package dev.hongbao.domain.fairness;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.domain.fairness.RainEvidence.Drop;
import dev.hongbao.domain.fairness.RainEvidence.End;
import dev.hongbao.domain.fairness.RainEvidence.Terms;
import dev.hongbao.domain.odds.Chance;
import dev.hongbao.domain.split.SplitTerms;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;

/** Reads the view of a finished rain. Ignores other fields. */
final class RainDocuments {
    /** The most drops accepted, far more than a rain has. */
    private static final int MAX_DROPS = 100_000;

    private RainDocuments() {}

    /** Whether the document is a rain's view, not a packet's or a draw's. */
    static boolean isRain(JsonObject document) {
        return document.containsKey("lastAt") || document.containsKey("fallen");
    }

    /** @throws InvalidInputException when it cannot be checked */
    static RainEvidence read(JsonObject document) {
        Fields rain = new Fields("#rain", document);
        String seed = rain.seed("rain", "the remainder is returned");
        Fields caught = rain.object("caught");
        return new RainEvidence(
                terms(rain),
                seed,
                rain.textOrNull("cancelledAt") == null ? null : rain.parsed("cancelledAt", Instant::parse),
                new End(amount(caught, "amount"), amount(rain, "returned")),
                drops(rain));
    }

    private static Terms terms(Fields rain) {
        Instant from = rain.parsed("startsAt", Instant::parse);
        Instant to = rain.parsed("lastAt", Instant::parse);
        if (millis(rain, "startsAt", from) >= millis(rain, "lastAt", to)
                || to.toEpochMilli() - from.toEpochMilli() > Chance.MAX_BOUND) {
            throw rain.fault("lastAt", "is out of range");
        }
        int drops = rain.integer("drops");
        long budget = amount(rain, "budget");
        if (drops < 1 || drops > MAX_DROPS || budget < drops) {
            throw rain.fault("drops", "is out of range");
        }
        return new Terms(rain.uuid("id"), from, to, drops, budget, rain.hex64("commitment"));
    }

    private static long millis(Fields rain, String name, Instant moment) {
        if (moment.getNano() % 1_000_000 != 0 || Math.abs(moment.getEpochSecond()) > Chance.MAX_BOUND) {
            throw rain.fault(name, "must be whole milliseconds");
        }
        return moment.toEpochMilli();
    }

    private static List<Drop> drops(Fields rain) {
        List<Fields> fallen = rain.objects("fallen");
        if (fallen.size() > MAX_DROPS) {
            throw rain.fault("fallen", "are more than a rain has");
        }
        return fallen.stream()
                .map(drop -> new Drop(
                        drop.uuid("packet"),
                        drop.parsed("at", Instant::parse),
                        amount(drop, "amount"),
                        drop.truth("over")))
                .toList();
    }

    private static long amount(Fields of, String name) {
        long amount = of.number(name);
        if (amount < 0 || amount > SplitTerms.MAX_TOTAL) {
            throw of.fault(name, "is out of range");
        }
        return amount;
    }
}
