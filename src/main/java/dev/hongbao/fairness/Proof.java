package dev.hongbao.fairness;

import java.util.List;

/** A check of a finished packet, draw or rain: its published facts, recomputed. */
public interface Proof {
    /** A line that names the packet, draw or rain. */
    String subject();

    /** The commitment in the evidence: 64 hexadecimal digits. It must equal the one published before. */
    String commitment();

    /** Contradictions to the seed, to the terms or among the facts, each a sentence; empty when there are none. */
    List<String> contradictions();

    /** The facts that are proven without a contradiction, each a sentence. */
    List<String> shown();
}
