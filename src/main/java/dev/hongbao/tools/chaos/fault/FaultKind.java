package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import java.util.SplittableRandom;

/** A kind of fault. */
record FaultKind(String name, Maker maker) {
    /** Chooses what it hurts, and how much. */
    interface Maker {
        Fault make(String name, ChaosBed bed, SplittableRandom random);
    }

    Fault make(ChaosBed bed, SplittableRandom random) {
        return maker.make(name, bed, random);
    }
}
