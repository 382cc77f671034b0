package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import java.util.SplittableRandom;

/**
 * A kind of fault.
 *
 * @param cost what of it lasts
 */
record FaultKind(String name, Cost cost, Maker maker) {
    /** What a run waits for after a fault. */
    enum Cost {
        /** It is noticed at once, and soon over. */
        LITTLE,
        /** Somebody says nothing any more while the connections to him stay: who waits for him learns of it by a time limit. */
        SILENCE,
        /** A server has to start again: that takes seconds, and a core. */
        RESTART
    }

    /** Chooses what it hurts, and how much. */
    interface Maker {
        Fault make(String name, ChaosBed bed, SplittableRandom random);
    }

    /** One that costs little. */
    FaultKind(String name, Maker maker) {
        this(name, Cost.LITTLE, maker);
    }

    boolean isSilent() {
        return cost == Cost.SILENCE;
    }

    boolean restarts() {
        return cost == Cost.RESTART;
    }

    Fault make(ChaosBed bed, SplittableRandom random) {
        return maker.make(name, bed, random);
    }
}
