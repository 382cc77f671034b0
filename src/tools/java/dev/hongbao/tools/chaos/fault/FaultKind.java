package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import java.util.SplittableRandom;

/** A kind of fault. @param maker chooses what it hurts, and how much */
record FaultKind(String name, Cost cost, Maker maker) {
    /** The wait after a fault. */
    enum Cost {
        /** Short. */
        LITTLE,
        /** A process says nothing while its connections stay: its peers wait for a time limit. */
        SILENCE,
        /** A server starts again: seconds, and a core. */
        RESTART
    }

    interface Maker {
        Fault make(ChaosBed bed, SplittableRandom random);
    }

    boolean isSilent() {
        return cost == Cost.SILENCE;
    }

    boolean restarts() {
        return cost == Cost.RESTART;
    }
}
