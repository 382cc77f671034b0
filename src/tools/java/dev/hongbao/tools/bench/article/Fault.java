package dev.hongbao.tools.bench.article;

import java.io.IOException;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What becomes of one claim's client after one of its steps: mostly nothing. Only on the claim's thread. */
public final class Fault {
    /** What goes wrong. */
    enum Kind {
        /** The process is gone: nobody cleans up. */
        DIES,
        /** The process goes on, but later than its locks last. */
        STALLS,
        /** The step is done, but its answer never arrives; the process cleans up as the article would. */
        HEARS_NOTHING
    }

    /** The client is gone. */
    static final class DiedException extends Exception {
        private static final long serialVersionUID = 1;

        DiedException(String step) {
            super("died after: " + step, null, false, false);
        }
    }

    /** The client does not know whether the step was done. */
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

    /** Nothing goes wrong. */
    public static Fault lucky() {
        return new Fault(null, 0, Duration.ZERO);
    }

    /**
     * Decides.
     *
     * @param chance the same chance decides the same
     * @param oneIn so many claims meets with something
     * @param steps of the claim; each is as likely as the others
     * @param stall how long one that stalls does
     */
    static Fault drawn(SplittableRandom chance, int oneIn, int steps, Duration stall) {
        if (chance.nextInt(oneIn) > 0) {
            return lucky();
        }
        Kind[] kinds = Kind.values();
        return new Fault(kinds[chance.nextInt(kinds.length)], chance.nextInt(steps), stall);
    }

    /** A step is done. */
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

    /** A dead client cleans nothing up. */
    boolean isDead() {
        return isDead;
    }
}
