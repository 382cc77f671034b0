package dev.hongbao.tools.bench;

/** A benchmark. Its fields are the rows of its report, in their order. */
abstract class Part {
    final Trial trial;

    Part(Trial trial) {
        this.trial = trial;
    }
}
