package dev.hongbao.engine.admission;

/**
 * The rule of one shard: from what came and what was settled in the last tick, over all servers, it says on which terms claims are
 * let in during the next one. Deterministic; it reads no clock. One thread.
 *
 * <p>While what waits is settled within a small part of the time that a claim may wait, everybody is let in, and nothing else
 * is known or done. Beyond that, the chance of a claim is what can be settled divided by what arrives, a little more while too few wait
 * and a little less while too many do. It is the same on all servers, since all compute it from the same sums.
 *
 * <p>What can be settled is measured: what was settled while claims waited for it. It is remembered, and bounds the next burst in the
 * moment before its first tick.
 */
final class AdmissionRule {
    /** Of the time that a claim may wait: so much work may wait, no more is let in by and by. */
    private static final double TARGET = 1.0 / 8;

    /** Of the same: so much work may wait at the most, also before a tick has seen it. */
    private static final double LIMIT = 1.0 / 4;

    /** Of the same: so much work may wait before it is known how much can be settled, if one settlement takes it. */
    private static final double UNMEASURED = 1.0 / 2;

    /** Of the same: in this time a backlog is brought to its target. Twice what it takes to hear of the others, or it would swing. */
    private static final double CORRECTED_IN = 1.0 / 2;

    private static final double LEAST_CORRECTED_SECONDS = 0.5;

    /** Ticks that a rate is a mean of: settlements come in lumps, some of them a tick apart. */
    private static final int LONG = 5;

    private static final int SHORT = 2;

    /** What the measured capacity takes over of a higher and of a lower rate, in a tick. */
    private static final double UP = 0.5;

    private static final double DOWN = 0.1;

    /** What the capacity is taken for more, in a tick that had too little to settle. */
    private static final double PROBE = 1.05;

    /** What the measured part of those who have to be settled takes over of a tick's. */
    private static final double MATTER = 0.2;

    private static final double LEAST_MATTER = 0.01;

    private final double seconds;
    private final double correctedSeconds;
    private final AdmissionControl.Settings settings; // a settlement and a batch are backlogs that are none
    private final double[] settled = new double[LONG];
    private int ticks;
    private double capacity;
    private boolean measured;
    private double chance = 1;

    /** The part of those let in who had to be settled. */
    private double matter = 1;

    private double backlogBefore;

    AdmissionRule(AdmissionControl.Settings settings) {
        this.seconds = settings.timeout().toNanos() / 1e9;
        this.correctedSeconds = Math.max(LEAST_CORRECTED_SECONDS, seconds * CORRECTED_IN);
        this.settings = settings;
    }

    /**
     * One tick.
     *
     * @param all on all servers
     * @param share of this server in what arrives, 0 to 1
     */
    Terms next(Flow all, double share) {
        settled[ticks++ % LONG] = all.settled();
        boolean everybody = chance >= 1;
        if (everybody) {
            capacity = Math.max(capacity, mean(SHORT)); // so much it can, maybe more
        }
        double target = target();
        lookHowManyMatter(all);
        if (everybody && all.backlog() < target) {
            return terms(share);
        }
        if (all.backlog() >= target / 2) {
            measure();
        } else {
            capacity *= PROBE; // too little waits: more could be settled than is let in
        }
        double wanted = capacity + (target - all.backlog()) / correctedSeconds;
        double next = all.arrivals() <= 0 ? 1 : wanted / (all.arrivals() * matter);
        chance = Math.max(0, Math.min(1, next));
        return terms(share);
    }

    /** Of those let in, many may need no settlement: they have a share, or nothing is left. */
    private void lookHowManyMatter(Flow all) {
        if (all.admitted() > 0) {
            double entered = all.settled() + (all.backlog() - backlogBefore) * 1000 / AdmissionControl.TICK.toMillis();
            double now = Math.max(LEAST_MATTER, Math.min(1, entered / all.admitted()));
            matter += (now - matter) * MATTER;
        }
        backlogBefore = all.backlog();
    }

    private double target() {
        double work = capacity * seconds;
        double none = measured
                ? settings.batch()
                : Math.max(2 * settings.batch(), Math.min(settings.settlement(), work * UNMEASURED));
        return Math.max(none, work * TARGET);
    }

    /** Enough waited, so what was settled is what can be. Nothing at all for long is a store that stands still, and says nothing. */
    private void measure() {
        double rate = mean(LONG);
        if (rate > 0) {
            measured = true;
            capacity += (rate - capacity) * (rate > capacity ? UP : DOWN);
        }
    }

    private double mean(int last) {
        double sum = 0;
        for (int i = 1; i <= last; i++) {
            sum += settled[Math.floorMod(ticks - i, LONG)];
        }
        return sum / last;
    }

    private Terms terms(double share) {
        return measured
                ? new Terms(chance, (long) Math.max(settings.batch(), capacity * seconds * LIMIT * share))
                : chance >= 1 ? Terms.OPEN : new Terms(chance, Long.MAX_VALUE);
    }
}
