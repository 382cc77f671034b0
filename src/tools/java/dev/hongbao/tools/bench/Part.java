package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.Trial.Step;
import java.util.ArrayList;
import java.util.List;

/**
 * A benchmark. Its fields are the rows of its report, in their order; its constructor names the steps of a round. Confined to one thread.
 */
abstract class Part {
    final Trial trial;
    private final List<Step> steps = new ArrayList<>();

    Part(Trial trial) {
        this.trial = trial;
    }

    final void step(String name, Trial.Action action) {
        steps.add(new Step(name, action));
    }

    /** Runs after each round. */
    void checkBooks() throws Exception {}

    void run() throws Exception {
        trial.rounds(this::checkBooks, steps);
    }

    /** Runs the rounds without a warm-up, in the given order. */
    final void runCold() throws Exception {
        trial.coldRounds(steps);
    }

    /** A benchmark with an engine of this process, which sends packets and checks the books. */
    abstract static class OfEngine extends Part {
        final BenchBed bed;

        OfEngine(BenchBed bed) {
            super(bed.trial);
            this.bed = bed;
        }

        @Override
        void checkBooks() throws Exception {
            bed.checkBooks();
        }
    }
}
