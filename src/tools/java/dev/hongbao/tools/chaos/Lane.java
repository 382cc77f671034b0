package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.fault.Fault;
import dev.hongbao.tools.chaos.fault.Schedule;
import dev.hongbao.tools.chaos.history.History;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The faults of one place in a round: each comes, lasts, and is mended before the next one. Confined to one thread; blocking. */
final class Lane implements Callable<List<Lane.Harm>> {
    private final List<Schedule.Turn> turns;
    private final History history;
    private final CountDownLatch steps;

    /**
     * A fault that came, or nearly did.
     *
     * @param came whether it did; if not, all that was to be mended after it was
     * @param fromMicros of the run's clock, as {@code mendedMicros}
     */
    record Harm(Fault fault, boolean came, long fromMicros, long mendedMicros) {}

    /** @param steps how many faults of the round still wait for their steps: others wait for them */
    Lane(List<Schedule.Turn> turns, History history, CountDownLatch steps) {
        this.turns = turns;
        this.history = history;
        this.steps = steps;
    }

    /** How many of its faults wait for a step: one or none. */
    static long steps(List<Schedule.Turn> turns) {
        return turns.stream().filter(turn -> turn.fault().awaitsStep()).count();
    }

    /** @return what was done, when all of it is mended; fails when something cannot be done or mended */
    @Override
    public List<Harm> call() throws Exception {
        List<Harm> done = new ArrayList<>();
        for (Schedule.Turn turn : turns) {
            done.add(harm(turn));
        }
        return done;
    }

    private Harm harm(Schedule.Turn turn) throws Exception {
        Fault fault = turn.fault();
        if (!fault.awaitsStep()) {
            steps.await();
        }
        long from = history.micros();
        boolean came = false;
        try {
            came = inject(fault);
            if (came) {
                TimeUnit.MILLISECONDS.sleep(turn.millis());
            }
        } finally {
            history.note("mending: " + fault);
            fault.heal().run();
        }
        history.note("mended: " + fault);
        return new Harm(fault, came, from, history.micros());
    }

    private boolean inject(Fault fault) throws Exception {
        try {
            history.note("fault: " + fault);
            fault.inject().run();
            return true;
        } catch (Fault.FaultMissedException missed) {
            history.note("missed: " + fault + ": " + missed.getMessage());
            return false;
        } finally {
            if (fault.awaitsStep()) {
                steps.countDown();
            }
        }
    }
}
