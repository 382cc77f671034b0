package dev.hongbao.web.access;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.TooManyCallsException;

/**
 * One claim's passcode attempt: counted before it is tried, so that concurrent guesses count too, and given back unless the
 * passcode was wrong.
 */
public final class PasscodeTry {
    /** Of a claim without one. */
    static final PasscodeTry NONE = new PasscodeTry(RateDecision.UNLIMITED, () -> {});

    private final RateDecision decision;
    private final Runnable giveBack;

    PasscodeTry(RateDecision decision, Runnable giveBack) {
        this.decision = decision;
        this.giveBack = giveBack;
    }

    /** Whether it may be tried. */
    public RateDecision decision() {
        return decision;
    }

    /** The refusal of a claim that exceeds the limit of passcode attempts. */
    public TooManyCallsException refusal() {
        int wait = decision.retryAfterSeconds();
        return new TooManyCallsException(Reason.PASSCODES, Text.of("passcode.wait", wait), wait);
    }

    /** The claim has ended; once. @param wrong whether its passcode was wrong; a claim that failed did not show it */
    public void ended(boolean wrong) {
        if (!wrong) {
            giveBack.run();
        }
    }
}
