package dev.hongbao.fairness;

import dev.hongbao.draw.odds.Chance;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.values.InvalidInputException;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A server's statements about a finished rain. Anyone can compute whether its drops fell at the seed's moments, with their parts of the
 * budget. The shares of a drop have their own proof: see {@link PacketEvidence}. Immutable.
 *
 * @param terms of the rain at its creation
 * @param seed 64 hexadecimal digits
 * @param cancelledAt null for a rain that was not cancelled
 * @param caught of all shares, minor units
 * @param returned to the host, minor units
 * @param fallen all fallen drops, in no order
 */
record RainEvidence(
        Terms terms, String seed, @Nullable Instant cancelledAt, long caught, long returned, List<Drop> fallen)
        implements Evidence.Proof {
    /** The most drops accepted, far more than a rain has. */
    private static final int MAX_DROPS = 100_000;

    /**
     * A rain at its creation.
     *
     * @param from start of the moments, included; whole milliseconds, as {@code to}
     * @param to excluded
     * @param budget minor units, at least as many as there are drops
     */
    public record Terms(UUID rain, Instant from, Instant to, int drops, long budget, String commitment) {
        /**
         * The amount of a drop, minor units.
         *
         * @param n from 0, in the order of the moments
         */
        private long amountOf(int n) {
            return budget / drops + (n < budget % drops ? 1 : 0);
        }
    }

    /**
     * A fallen drop.
     *
     * @param amount minor units
     * @param over true if no share can be caught any more
     */
    public record Drop(UUID packet, Instant at, long amount, boolean over) {}

    public RainEvidence {
        fallen = List.copyOf(fallen);
    }

    /** Whether the document is a rain's view, not a packet's or a draw's. */
    static boolean isRain(JsonObject document) {
        return document.containsKey("lastAt") || document.containsKey("fallen");
    }

    /**
     * Reads the view of a finished rain. Ignores other fields.
     *
     * @throws InvalidInputException when it cannot be checked
     */
    static RainEvidence read(JsonObject document) {
        Fields rain = new Fields("#rain", document);
        String seed = rain.seed("rain", "the remainder is returned");
        Fields caught = rain.object("caught");
        return new RainEvidence(
                terms(rain),
                seed,
                rain.textOrNull("cancelledAt") == null ? null : rain.parsed("cancelledAt", Instant::parse),
                amount(caught, "amount"),
                amount(rain, "returned"),
                fallen(rain));
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

    private static List<Drop> fallen(Fields rain) {
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

    @Override
    public String subject() {
        return "rain " + terms.rain + ": " + terms.budget + " in " + terms.drops + " drops, from " + terms.from + " to "
                + terms.to + (cancelledAt == null ? "" : ", cancelled at " + cancelledAt);
    }

    @Override
    public String commitment() {
        return terms.commitment;
    }

    @Override
    public List<String> shown() {
        return List.of(
                "the commitment is the SHA-256 of these moments' terms and the seed",
                "the seed gives the moments of all " + fallen.size() + " drops that fell",
                "each had its part of the budget, and what was not caught was returned");
    }

    @Override
    public List<String> contradictions() {
        Seed revealed = new Seed(HexFormat.of().parseHex(seed));
        List<String> found = new ArrayList<>();
        String digest = revealed.commitment(terms.rain, terms.from, terms.to, terms.drops);
        if (!digest.equals(terms.commitment)) {
            found.add("the commitment is " + terms.commitment + ", the seed and the terms give " + digest);
        }
        drops(revealed.moments(terms.from, terms.to, terms.drops), found);
        if (caught + returned != terms.budget) {
            found.add("caught are " + caught + " and returned " + returned + ", the budget is " + terms.budget);
        }
        long dropped = fallen.stream().mapToLong(Drop::amount).sum();
        if (caught > dropped) {
            found.add("caught are " + caught + ", and " + dropped + " fell");
        }
        return found;
    }

    private void drops(List<Instant> moments, List<String> found) {
        List<Instant> expected = moments.stream().filter(this::falls).toList();
        if (fallen.size() != expected.size()) {
            found.add(fallen.size() + " drops fell, the seed gives " + expected.size());
        }
        // At the same moment, larger drops come first.
        List<Drop> inOrder = fallen.stream()
                .sorted(Comparator.comparing(Drop::at)
                        .thenComparing(Comparator.comparingLong(Drop::amount).reversed()))
                .toList();
        Set<UUID> packets = new HashSet<>();
        for (int n = 0; n < inOrder.size(); n++) {
            Drop drop = inOrder.get(n);
            if (!packets.add(drop.packet)) {
                found.add("drop " + drop.packet + " fell twice");
            }
            if (n < expected.size() && !drop.at.equals(expected.get(n))) {
                found.add("drop " + drop.packet + " fell at " + drop.at + ", the seed gives " + expected.get(n));
            }
            if (n < terms.drops && drop.amount != terms.amountOf(n)) {
                found.add("drop " + drop.packet + " had " + drop.amount + ", the budget gives " + terms.amountOf(n));
            }
            if (!drop.over) {
                found.add("drop " + drop.packet + " can still be caught, and the rain is over");
            }
        }
    }

    /** Whether a drop of this moment falls before the rain is cancelled. The server's clock has microseconds. */
    private boolean falls(Instant moment) {
        return cancelledAt == null || moment.isBefore(cancelledAt.minus(1, ChronoUnit.MICROS));
    }
}
