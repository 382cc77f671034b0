package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.check.Checker;
import dev.hongbao.tools.chaos.check.Loss;
import dev.hongbao.tools.chaos.check.Trouble;
import dev.hongbao.tools.chaos.check.Violation;
import dev.hongbao.tools.chaos.fault.Fault;
import dev.hongbao.tools.chaos.fault.Schedule;
import dev.hongbao.tools.chaos.history.History;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Injects round after round, mends all, and waits until all is well. For one thread; blocking. */
final class Rounds {
    /** A shard that settles nothing for so long after everything is mended is stranded; promised are 5 s, 15 s after a host froze. */
    private static final long STRANDED_MILLIS = 60_000;

    /** What was sent just before a fault, or on a connection from before, may go unanswered. */
    private static final long AROUND_MICROS = 1_000_000;

    static final String LIVE = "I15 every shard settles after faults are over";

    private final Schedule schedule;
    private final Probes probes;
    private final History history;
    private final Consumer<String> progress;
    private final List<Trouble> troubles = new ArrayList<>();
    private final List<Loss> losses = new ArrayList<>();
    private final List<Violation> stranded = new ArrayList<>();
    private final Map<String, List<Long>> settledMicros = new TreeMap<>();

    Rounds(Schedule schedule, Probes probes, History history, Consumer<String> progress) {
        this.schedule = schedule;
        this.probes = probes;
        this.history = history;
        this.progress = progress;
    }

    /** @param untilMicros of the run's clock: no round begins after it */
    void run(long untilMicros) throws Exception {
        for (int number = 1; history.micros() < untilMicros && !history.isFull(); number++) {
            Schedule.Round round = schedule.next();
            String names = round.faults().stream().map(Fault::toString).collect(Collectors.joining(", "));
            history.note("round " + number + ": " + names + " for " + round.millis() + " ms");
            progress.accept(String.format(
                    "%5d s  round %d, %d ms: %s",
                    TimeUnit.MICROSECONDS.toSeconds(history.micros()), number, round.millis(), names));
            long settled = play(round);
            progress.accept(String.format(
                    "%5d s  settled again in %d ms",
                    TimeUnit.MICROSECONDS.toSeconds(history.micros()), settled / 1_000));
        }
    }

    /** @return microseconds from the end of the last fault until every shard settles at every server */
    private long play(Schedule.Round round) throws Exception {
        long fromMicros = history.micros();
        List<Fault> begun = new ArrayList<>();
        List<Fault> injected = new ArrayList<>();
        try {
            for (Fault fault : round.faults()) {
                begun.add(fault);
                inject(fault, injected);
            }
            TimeUnit.MILLISECONDS.sleep(round.millis());
        } finally {
            history.note("mending");
            heal(begun);
        }
        long mended = history.micros();
        history.note("mended");
        List<String> late = probes.awaitSettled(STRANDED_MILLIS);
        long settled = history.micros();
        history.note(late.isEmpty() ? "settled again" : "stranded: " + late);
        if (injected.stream().anyMatch(Fault::isLoss)) {
            losses.add(new Loss(fromMicros, settled + AROUND_MICROS));
        }
        begun.stream()
                .flatMap(fault -> fault.servers().stream())
                .forEach(server ->
                        troubles.add(new Trouble(server, fromMicros - AROUND_MICROS, settled + AROUND_MICROS)));
        injected.forEach(fault -> settledMicros
                .computeIfAbsent(fault.kind(), kind -> new ArrayList<>())
                .add(settled - mended));
        if (!late.isEmpty()) {
            stranded.add(new Violation(
                    LIVE, late + " " + STRANDED_MILLIS / 1_000 + " s after " + begun + " were mended", List.of()));
        }
        return settled - mended;
    }

    private void inject(Fault fault, List<Fault> injected) throws Exception {
        try {
            fault.inject().run();
            injected.add(fault);
        } catch (Fault.FaultMissedException missed) {
            history.note("missed: " + fault + ": " + missed.getMessage());
        }
    }

    /** All side by side: a server that starts may need a store that is mended at the same time. */
    private static void heal(List<Fault> faults) throws Exception {
        List<CompletableFuture<Void>> healing = faults.stream()
                .map(fault -> CompletableFuture.runAsync(
                        () -> {
                            try {
                                fault.heal().run();
                            } catch (Exception e) {
                                throw new CompletionException("cannot mend " + fault, e);
                            }
                        },
                        task -> new Thread(task, "heal").start()))
                .toList();
        CompletableFuture.allOf(healing.toArray(CompletableFuture[]::new)).get();
    }

    Checker.Times times() {
        return new Checker.Times(troubles, losses);
    }

    List<Violation> stranded() {
        return stranded;
    }

    /** By kind of fault, of each that was injected: microseconds from the end of its round's faults until all was well. */
    Map<String, List<Long>> settledMicros() {
        return settledMicros;
    }
}
