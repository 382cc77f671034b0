package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.check.Checker;
import dev.hongbao.tools.chaos.check.Loss;
import dev.hongbao.tools.chaos.check.Trouble;
import dev.hongbao.tools.chaos.check.Violation;
import dev.hongbao.tools.chaos.fault.Fault;
import dev.hongbao.tools.chaos.fault.Schedule;
import dev.hongbao.tools.chaos.history.History;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Plays round after round, the lanes of each side by side, and waits after each until all is well. Confined to one thread; blocking. */
final class Rounds {
    /** A shard that settles nothing for so long after everything is mended is stranded; promised are 5 s, 15 s after a host froze. */
    private static final long STRANDED_MILLIS = 60_000;

    /** What was sent just before a fault, or on a connection from before, may go unanswered. */
    private static final long AROUND_MICROS = 1_000_000;

    static final String LIVE = "I15 every shard settles after faults are over";

    private final Supplier<Schedule.Round> schedule;
    private final Duration calm;
    private final Settlement settlement;
    private final History history;
    private final Consumer<String> progress;
    private final List<Trouble> troubles = new ArrayList<>();
    private final List<Loss> losses = new ArrayList<>();
    private final List<Violation> stranded = new ArrayList<>();
    private final Map<String, List<Long>> settledMicros = new TreeMap<>();
    private final Settling settling = new Settling(new ArrayList<>(), new ArrayList<>());

    /**
     * Of each round: microseconds from the end of its last fault until every shard settled at every server.
     *
     * @param silent of rounds in which somebody fell silent without a word
     * @param others of the rest
     */
    record Settling(List<Long> others, List<Long> silent) {}

    /** Waits until every shard settles at every server. */
    interface Settlement {
        /** @return what does not when the limit is over: a line each */
        List<String> await(long limitMillis) throws Exception;
    }

    /** @param calm before each round, in which nothing is hurt */
    Rounds(
            Supplier<Schedule.Round> schedule,
            Duration calm,
            Settlement settlement,
            History history,
            Consumer<String> progress) {
        this.schedule = schedule;
        this.calm = calm;
        this.settlement = settlement;
        this.history = history;
        this.progress = progress;
    }

    /** @param untilMicros of the run's clock: no round begins after it */
    void run(long untilMicros) throws Exception {
        for (int number = 1; history.micros() < untilMicros && !history.isFull(); number++) {
            TimeUnit.MILLISECONDS.sleep(calm.toMillis());
            Schedule.Round round = schedule.get();
            tell("round %d: %s", number, text(round));
            history.note("round " + number);
            List<Lane.Harm> harms = play(round);
            long mended = history.micros();
            history.note("all mended");
            List<String> late = settlement.await(STRANDED_MILLIS);
            long settled = history.micros();
            history.note(late.isEmpty() ? "settled again" : "stranded: " + late);
            tell("settled again in %d ms", (settled - mended) / 1_000);
            keep(harms, mended, settled, round.isSilent());
            if (!late.isEmpty()) {
                stranded.add(new Violation(
                        LIVE, late + " " + STRANDED_MILLIS / 1_000 + " s after round " + number, List.of()));
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

    /** @return all that was done, when everything is mended */
    private List<Lane.Harm> play(Schedule.Round round) throws Exception {
        CountDownLatch steps = new CountDownLatch(
                (int) round.lanes().stream().mapToLong(Lane::steps).sum());
        ExecutorService threads = Executors.newFixedThreadPool(round.lanes().size());
        try {
            List<Future<List<Lane.Harm>>> lanes = threads.invokeAll(round.lanes().stream()
                    .map(turns -> new Lane(turns, history, steps))
                    .toList());
            List<Lane.Harm> harms = new ArrayList<>();
            for (Future<List<Lane.Harm>> lane : lanes) {
                harms.addAll(lane.get());
            }
            return harms;
        } catch (ExecutionException fault) {
            throw new IllegalStateException(fault.getMessage() + ", in the round: " + text(round), fault.getCause());
        } finally {
            threads.shutdownNow();
        }
    }

    private void keep(List<Lane.Harm> harms, long mended, long settled, boolean isSilent) {
        (isSilent ? settling.silent : settling.others).add(settled - mended);
        for (Lane.Harm harm : harms) {
            Fault fault = harm.fault();
            fault.servers()
                    .forEach(server -> troubles.add(new Trouble(
                            server, harm.fromMicros() - AROUND_MICROS, harm.mendedMicros() + AROUND_MICROS)));
            if (harm.came()) {
                settledMicros
                        .computeIfAbsent(fault.kind(), kind -> new ArrayList<>())
                        .add(settled - mended);
                if (fault.isLoss()) {
                    losses.add(new Loss(harm.fromMicros(), settled + AROUND_MICROS));
                }
            }
        }
    }

    Checker.Times times() {
        return new Checker.Times(troubles, losses);
    }

    List<Violation> stranded() {
        return stranded;
    }

    /** By kind of fault, of each that came: microseconds from the end of its round's last fault until all was well. */
    Map<String, List<Long>> settledMicros() {
        return settledMicros;
    }

    Settling settling() {
        return settling;
    }
}
