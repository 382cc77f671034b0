package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import java.util.SplittableRandom;

/**
 * A kind of fault.
 *
 * @param isSilent whether somebody says nothing any more while the connections to him stay: who waits for him learns of it by a time limit
 */
record FaultKind(String name, boolean isSilent, Maker maker) {
    /** Chooses what it hurts, and how much. */
    interface Maker {
        Fault make(String name, ChaosBed bed, SplittableRandom random);
    }

    /** One that is noticed at once. */
    FaultKind(String name, Maker maker) {
        this(name, false, maker);
    }

    Fault make(ChaosBed bed, SplittableRandom random) {
        return maker.make(name, bed, random);
    }
}
