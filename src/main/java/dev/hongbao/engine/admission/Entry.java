package dev.hongbao.engine.admission;

import dev.hongbao.common.values.UnavailableException;
import org.jspecify.annotations.Nullable;

/** The way in of one claim or play: who is in stays in, however often it is tried. Confined to its event loop. */
public final class Entry {
    private final AdmissionGate gate;
    private final int shard;
    private State state = State.OUTSIDE;

    private enum State {
        OUTSIDE,
        REFUSED,
        /** Let in, on its way to the script's answer. */
        COMING,
        ARRIVED
    }

    Entry(AdmissionGate gate, int shard) {
        this.gate = gate;
        this.shard = shard;
    }

    /**
     * Asks to be let in, for who waits for the settlement. Tell {@link #arrived} once it is.
     *
     * @param full whether this event loop has no place for it
     * @return why it is not let in; null when it is, or was before
     */
    public @Nullable UnavailableException ask(boolean full) {
        if (state == State.COMING || state == State.ARRIVED) {
            return null;
        }
        UnavailableException refusal = gate.refusal(shard, full);
        state = refusal == null ? State.COMING : State.REFUSED;
        return refusal;
    }

    /** The same for who does not wait for the settlement. */
    public @Nullable UnavailableException askInPassing() {
        if (state == State.ARRIVED) {
            return null;
        }
        UnavailableException refusal = gate.refusalInPassing(shard);
        state = refusal == null ? State.ARRIVED : State.REFUSED;
        return refusal;
    }

    /** The script has answered, or is not asked any more. Idempotent. */
    public void arrived() {
        if (state == State.COMING) {
            state = State.ARRIVED;
            gate.arrived(shard);
        }
    }

    /** Whether it was refused, which is counted at the gate. */
    public boolean isRefused() {
        return state == State.REFUSED;
    }
}
