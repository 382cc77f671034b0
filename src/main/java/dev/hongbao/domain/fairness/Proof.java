package dev.hongbao.domain.fairness;

import java.util.List;

/** What was told of something that is over, recomputed. */
public interface Proof {
    /** What it is about, in a line. */
    String subject();

    /** The commitment that was told now: 64 hexadecimal digits. It has to be the one that was told before. */
    String commitment();

    /** What contradicts the seed, the terms or itself, each in a sentence; empty when all is as it must be. */
    List<String> contradictions();

    /** What is shown when there is no contradiction, each in a sentence. */
    List<String> shown();
}
