package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.check.Rule;
import dev.hongbao.tools.chaos.check.Seen.Loss;
import dev.hongbao.tools.chaos.check.Seen.Trouble;
import dev.hongbao.tools.chaos.check.Violation;
import dev.hongbao.tools.chaos.fault.Fault;
import dev.hongbao.tools.chaos.fault.Schedule;
import dev.hongbao.tools.chaos.load.History;
import dev.hongbao.tools.local.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Plays round after round, the lanes of each at once, and waits after each until all shards settle. Confined to one thread; blocking. */
final class Rounds {
    /** After this time a shard is stranded; the promise is 5 s, or 15 s after a frozen server. */
    private static final long STRANDED_MILLIS = 60_000;

    /** A call just before a fault, or on an older connection, may have no answer. */
    private static final long AROUND_MICROS = 1_000_000;

    private final Supplier<Schedule.Round> schedule;
    private final Settlement settlement;
    private final History history;
    private final Consumer<String> progress;

    final List<Trouble> troubles = new ArrayList<>();

    /** Also the time until all shards settled. */
    final List<Loss> losses = new ArrayList<>();

    final List<Violation> stranded = new ArrayList<>();

    /** By kind: the number of those that came. */
    final Map<String, Integer> faults = new TreeMap<>();

    final Settling settling = new Settling(new ArrayList<>(), new ArrayList<>());

    /** Microseconds from the last fault of each round until every shard settled at every server. */
    record Settling(List<Long> others, List<Long> silent) {}

    /** Waits until every shard settles at every server. */
    interface Settlement {
        /** @return a line for each that does not within the limit */
        List<String> await(long limitMillis) throws Exception;
    }

    Rounds(Supplier<Schedule.Round> schedule, Settlement settlement, History history, Consumer<String> progress) {
        this.schedule = schedule;
        this.settlement = settlement;
        this.history = history;
        this.progress = progress;
    }

    /** @param untilMicros of the run's clock: no round begins later */
    void run(long untilMicros) throws Exception {
        for (int number = 1; history.micros() < untilMicros && !history.isFull(); number++) {
            Schedule.Round round = schedule.get();
            tell("round %d: %s", number, text(round));
            history.note("round " + number);
            List<Harm> harms = play(round);
            long mended = history.micros();
            history.note("all mended");
            List<String> late = settlement.await(STRANDED_MILLIS);
            long settled = history.micros();
            history.note(late.isEmpty() ? "settled again" : "stranded: " + late);
            tell("settled again in %d ms", (settled - mended) / 1_000);
            keep(harms, mended, settled, round.isSilent());
            if (!late.isEmpty()) {
                stranded.add(
                        new Violation(Rule.SETTLES, late + " " + STRANDED_MILLIS / 1_000 + " s after round " + number));
            }
        }
    }

    private void tell(String format, Object... values) {
        progress.accept(String.format("%5d s  ", TimeUnit.MICROSECONDS.toSeconds(history.micros()))
                + String.format(format, values));
    }

    private static String text(Schedule.Round round) {
        return round.lanes().stream()
                .map(lane -> lane.stream()
                        .map(turn -> turn.fault() + " for " + turn.millis() + " ms")
                        .collect(Collectors.joining(", then ")))
                .collect(Collectors.joining("; "));
    }

    /** Returns when all is mended. */
    private List<Harm> play(Schedule.Round round) throws Exception {
        List<Lane> lanes =
                round.lanes().stream().map(turns -> new Lane(turns, history)).toList();
        try {
            return Threads.all(lanes.size(), lanes).stream()
                    .flatMap(List::stream)
                    .toList();
        } catch (Exception fault) {
            throw new IllegalStateException(fault.getMessage() + ", in the round: " + text(round), fault);
        }
    }

    private void keep(List<Harm> harms, long mended, long settled, boolean isSilent) {
        (isSilent ? settling.silent : settling.others).add(settled - mended);
        for (Harm harm : harms) {
            Fault fault = harm.fault;
            fault.servers()
                    .forEach(server -> troubles.add(
                            new Trouble(server, harm.fromMicros - AROUND_MICROS, harm.mendedMicros + AROUND_MICROS)));
            if (harm.came) {
                faults.merge(fault.kind(), 1, Integer::sum);
                if (fault.isLoss()) {
                    losses.add(new Loss(harm.fromMicros, settled + AROUND_MICROS));
                }
            }
        }
    }

    /** @param came whether it came about */
    record Harm(Fault fault, boolean came, long fromMicros, long mendedMicros) {}

    /** The faults of one place in a round: each comes, lasts, and is mended before the next one. Confined to one thread. */
    record Lane(List<Schedule.Turn> turns, History history) implements Callable<List<Harm>> {
        /** Returns when all is mended. @throws Exception if a fault cannot be injected or mended */
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
            }
        }
    }
}
