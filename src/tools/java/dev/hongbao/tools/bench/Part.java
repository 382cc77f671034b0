package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.Trial.Step;
import java.util.ArrayList;
import java.util.List;

/**
 * A benchmark with an engine of this process, which sends packets and checks the books. Its fields are the rows of its report, in their
 * order; its constructor names the steps of a round. Confined to one thread.
 */
abstract class Part {
    final Trial trial;
    final BenchBed bed;
    private final List<Step> steps = new ArrayList<>();

    Part(BenchBed bed) {
        this.trial = bed.trial;
        this.bed = bed;
    }

    final void step(String name, Trial.Action action) {
        steps.add(new Step(name, action));
    }

    final void run() throws Exception {
        trial.rounds(bed::checkBooks, steps);
    }
}
