package dev.hongbao.engine.admission;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The rule of one shard: from what came, waits and was settled, over all servers, it says on which terms claims and plays are let in
 * until the next tick. Deterministic; it reads no clock. Confined to one thread.
 *
 * <p>How long one waits is how much waits, divided by how much is settled a second (Little's law). So what waits is bounded, and the
 * measured rate only says how long that is. While less waits than is settled in a part of the timeout, everybody is let in. Beyond
 * that there is one chance for all, and it brings what waits back to a smaller part: what can be settled divided by what arrives, more
 * while too little waits and less while too much does. All servers compute it from the same sums.
 *
 * <p>The rate is measured only while the writer never ran out of work, and forgotten some time after. What is not known, also on
 * a server just started, refuses nobody; then {@code claim.max-waiting} is the bound.
 */
final class AdmissionRule {
    /** Target backlog while admission is limited, as a fraction of the timeout. */
    private static final double TARGET = 1.0 / 4;

    /** Backlog from which on admission is limited, as a multiple of the target. */
    private static final double TOO_MUCH = 1.5;

    /** Largest backlog, as a multiple of the target. It also holds between two ticks. */
    private static final double MOST = 2;

    /** Largest target, as a fraction of a server's places. With more, the places would decide who is let in: first come, first served. */
    private static final double PLACES = 1.0 / 2;

    /**
     * Time in which a backlog is brought to its target, as a fraction of the timeout. At least twice the delay of what is heard of the
     * other servers: with less the control swings.
     */
    private static final double CORRECTED_IN = 1.0 / 2;

    private static final double LEAST_CORRECTED_SECONDS = 0.5;

    /** Busy ticks in a row until the rate is known: fewer may be one large settlement. */
    private static final int LEAST_BUSY = 3;

    /** Time over which the rate is averaged, as a fraction of the timeout: settlements are large and few. */
    private static final double MEASURED_OVER = 1.0 / 4;

    private static final int LEAST_MEASURED = 5;
    private static final int MOST_MEASURED = 50;

    /** Share of a higher measured rate that the known rate takes over in a tick; below, that of a lower one. */
    private static final double UP = 0.5;

    private static final double DOWN = 0.1;

    /** The rate is multiplied by this in a tick that had too little to settle although admission was limited. */
    private static final double PROBE = 1.05;

    /** Ticks for which a measured rate stays valid: a store's speed changes. */
    private static final int KNOWN_FOR = 100;

    /** What is taken over of a tick's settlements, and of its arrivals while not everybody is let in. */
    private static final double RECENT = 0.3;

    /** What the part of those who have to be settled takes over of a tick's. */
    private static final double MATTER = 0.2;

    private static final double LEAST_MATTER = 0.01;
    private static final double TICKS_A_SECOND = 1000.0 / AdmissionControl.TICK.toMillis();

    private final double seconds;
    private final double correctedSeconds;
    private final int measuredTicks;
    private final AdmissionControl.Settings settings;

    /** What was settled in each of the last ticks in which the writer never ran out of work. */
    private final Deque<Double> busy = new ArrayDeque<>();

    /** What was settled lately, busy or not. */
    private double recent;

    private double rate;
    private int sinceBusy;
    private boolean known;
    private double chance = 1;
    private double arrivals;
    private double matter = 1;
    private Flow before = Flow.NONE;

    AdmissionRule(AdmissionControl.Settings settings) {
        this.seconds = settings.timeout().toNanos() / 1e9;
        this.correctedSeconds = Math.max(LEAST_CORRECTED_SECONDS, seconds * CORRECTED_IN);
        this.measuredTicks =
                (int) Math.max(LEAST_MEASURED, Math.min(MOST_MEASURED, seconds * MEASURED_OVER * TICKS_A_SECOND));
        this.settings = settings;
    }

    /**
     * What arrives at this server, 0 to 1.
     *
     * @param ofAll of what arrives at all servers
     * @param ofMost of what arrives where most does
     */
    record Part(double ofAll, double ofMost) {}

    /** The chance that was found in the last tick, without that of the others. */
    double chance() {
        return chance;
    }

    /**
     * One tick.
     *
     * @param all on all servers
     * @param part of it here
     * @param othersChance which they have found, as far as is known
     */
    Terms next(Flow all, Part part, double othersChance) {
        Terms own = next(all, part);
        if (othersChance >= 1) {
            return own; // they let everybody in a tick ago
        }
        // What each measures differs a little: all go by the mean, and one to whom little comes follows the others.
        return new Terms(own.chance() * part.ofAll + othersChance * (1 - part.ofAll), own.most(), own.matter());
    }

    private Terms next(Flow all, Part part) {
        lookHowManyMatter(all);
        measure(all);
        double waiting = unsettled(all);
        before = all;
        boolean everybody = chance >= 1;
        arrivals = everybody ? all.arrivals() : arrivals + (all.arrivals() - arrivals) * RECENT;
        if (!known) {
            chance = 1;
            // Nobody is refused but for want of a place. Where places run out, they are as scarce for the others.
            return waiting < settings.places() * PLACES
                    ? Terms.OPEN
                    : new Terms(1, (long) (settings.places() * part.ofMost()), matter);
        }
        if (everybody && waiting < target() * TOO_MUCH) {
            return terms(part);
        }
        if (!everybody && waiting < target() / 2) {
            rate *= PROBE; // more could be settled than is let in
        }
        double wanted = rate + (target() - waiting) / correctedSeconds;
        chance = Math.max(0, Math.min(1, arrivals <= 0 ? 1 : wanted / (arrivals * matter)));
        return terms(part);
    }

    private double unsettled(Flow flow) {
        return flow.waiting() + flow.coming() * matter;
    }

    /** Of those let in, many may need no settlement: they have a share, or nothing is left. */
    private void lookHowManyMatter(Flow all) {
        double answered = all.admitted() + (before.coming() - all.coming()) * TICKS_A_SECOND;
        if (answered > 0) {
            double accepted = all.settled() + (all.waiting() - before.waiting()) * TICKS_A_SECOND;
            double now = Math.max(LEAST_MATTER, Math.min(1, accepted / answered));
            matter += (now - matter) * MATTER;
        }
    }

    /**
     * When more waited at the begin of a tick than was settled in it, the writer never ran out of work, and what it settled is what can
     * be settled. A little is no work for it, unless more never waits: large settlements cost less of each.
     */
    private void measure(Flow all) {
        recent += (all.settled() - recent) * RECENT;
        double little = Math.min(2.0 * settings.batch(), known ? target() / 2 : settings.places() * PLACES);
        if (before.waiting() < Math.max(all.settled() / TICKS_A_SECOND, little)) {
            busy.clear();
            rate = Math.max(rate, recent); // so much it can, maybe more
            known &= ++sinceBusy < KNOWN_FOR;
            return;
        }
        if (busy.isEmpty() && all.settled() == 0) {
            return; // a store that stands still says nothing, nor does the first settlement of a server just started
        }
        busy.add(all.settled());
        if (busy.size() > measuredTicks) {
            busy.remove();
        }
        double now = busy.stream().mapToDouble(Double::doubleValue).average().orElse(0);
        if (busy.size() >= LEAST_BUSY && now > 0) {
            sinceBusy = 0;
            rate = known ? rate + (now - rate) * (now > rate ? UP : DOWN) : now;
            known = true;
        }
    }

    private double target() {
        return Math.min(settings.places() * PLACES, Math.max(settings.batch(), rate * seconds * TARGET));
    }

    private Terms terms(Part part) {
        double most = Math.max(Math.min(settings.batch(), target()), target() * MOST * part.ofAll());
        return new Terms(chance, (long) most, matter);
    }
}
