package dev.hongbao.tools.bench.article;

import java.io.IOException;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The fault of one claim's client after one of its steps; mostly none. Only on the claim's thread. */
public final class Fault {
    enum Kind {
        /** The process is gone: nobody cleans up. */
        DIES,
        /** The process goes on after its locks have expired. */
        STALLS,
        /** The step is done, but its answer is lost; the process cleans up as in the article. */
        HEARS_NOTHING
    }

    static final class DiedException extends Exception {
        private static final long serialVersionUID = 1;

        DiedException(String step) {
            super("died after: " + step, null, false, false);
        }
    }

    /** The outcome of the step is unknown. */
    static final class NoAnswerException extends IOException {
        private static final long serialVersionUID = 1;

        NoAnswerException(String step) {
            super("no answer to: " + step);
        }
    }

    private final @Nullable Kind kind;
    private final Duration stall;
    private int stepsUntil;
    private boolean isDead;

    private Fault(@Nullable Kind kind, int stepsUntil, Duration stall) {
        this.kind = kind;
        this.stepsUntil = stepsUntil;
        this.stall = stall;
    }

    static Fault lucky() {
        return new Fault(null, 0, Duration.ZERO);
    }

    /**
     * Draws a fault.
     *
     * @param chance equal chances give equal faults
     * @param oneIn so many claims has a fault
     * @param steps of the claim, equally likely
     * @param stall length of a stall
     */
    static Fault drawn(SplittableRandom chance, int oneIn, int steps, Duration stall) {
        if (chance.nextInt(oneIn) > 0) {
            return lucky();
        }
        Kind[] kinds = Kind.values();
        return new Fault(kinds[chance.nextInt(kinds.length)], chance.nextInt(steps), stall);
    }

    /** Ends a step: the fault happens here, or does not. */
    void after(String step) throws DiedException, NoAnswerException, InterruptedException {
        if (kind == null || stepsUntil-- != 0) {
            return;
        }
        switch (kind) {
            case DIES -> {
                isDead = true;
                throw new DiedException(step);
            }
            case STALLS -> TimeUnit.MILLISECONDS.sleep(stall.toMillis());
            case HEARS_NOTHING -> throw new NoAnswerException(step);
        }
    }

    boolean isDead() {
        return isDead;
    }
}
