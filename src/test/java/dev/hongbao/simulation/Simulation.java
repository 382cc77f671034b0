package dev.hongbao.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * Histories of several servers on virtual time, each from a seed.
 *
 * <p>Real:
 *
 * <ul>
 *   <li>the whole writer: logs, settlement, recovery, ownership, hand-over, supervision, presence, quarantine;
 *   <li>the scripts and their batches, waiters, admission, messages between servers, the operator's view of shards;
 *   <li>claims, loads of sent packets, closes of expired ones, early ends, limits of campaigns over their pools;
 *   <li>plays of draws with their holds, schedules and ends.
 * </ul>
 *
 * <p>Modelled: Redis by {@link RedisModel}, which runs the real Lua scripts; Postgres by {@link PostgresTables}, a second meaning of the
 * settling statements; the network, the bus, clocks, an operator, and the faults of {@link History.Fault}.
 *
 * <p>A replica that is promoted lacks the last writes; its former primary goes on for a while on some connections. The engine asks
 * neither for {@code WAIT} nor for {@code min-replicas-to-write}.
 *
 * <p>Not modelled: rains, the senders' own gathering, the making of draws, feeds but for what they tell of packets, the
 * outbox, accounts; slots that move in a Redis Cluster, Sentinel and {@code leaveIfOutdated}; threads.
 *
 * <p>{@code ./mvnw -q test -Dtest=Simulation} runs new seeds for some seconds, {@code -Dseeds=1000} that many, on each processor or
 * {@code -Dthreads=1}, with a line a minute, and {@code -Dseed=7} one of them again. With {@code
 * -Dalways=POSTGRES_RESTORED} each has that fault. A long run is faster with {@code -DtestJvm=-Xmx2g}, which lets C2 compile.
 */
class Simulation {
    private static final long SECONDS = Long.getLong("seconds", 8);
    private static final int LINES = 40;

    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.hongbao");
    private final Logger vertx = (Logger) LoggerFactory.getLogger("io.vertx");
    private final Level level = logger.getLevel();
    private final Map<String, Integer> said = new TreeMap<>();
    private Consumer<String> story = line -> {};

    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            said.merge(event.getMessage(), 1, Integer::sum);
            story.accept("              " + event.getLevel() + " " + event.getFormattedMessage());
        }
    };

    @BeforeEach
    void listen() {
        appender.start();
        logger.setLevel(Level.INFO);
        logger.setAdditive(false);
        logger.addAppender(appender);
        vertx.setLevel(Level.OFF);
    }

    @AfterEach
    void restore() {
        logger.detachAppender(appender);
        logger.setAdditive(true);
        logger.setLevel(level);
        vertx.setLevel(null);
    }

    @Test
    void oneSeedIsOneHistory() {
        for (long seed = 1; seed <= 5; seed++) {
            History.Plan plan = History.Plan.of(seed);
            assertThat(History.run(seed, plan, null)).isEqualTo(History.run(seed, plan, null));
        }
    }

    @Test
    void noHistoryBreaksAPromise() {
        Long one = Long.getLong("seed");
        if (one != null) {
            History.Result result = tell(one, History.Plan.of(one), System.out::println);
            System.out.printf("seed %d: hash %x, %d events%n", one, result.hash(), result.events());
            assertThat(result.violation()).isNull();
            return;
        }
        long first = System.nanoTime() & 0xffff_ffff_ffffL;
        long begun = System.nanoTime();
        Long most = Long.getLong("seeds");
        AtomicLong next = new AtomicLong(first);
        Queue<History.Result> broken = new ConcurrentLinkedQueue<>();
        Map<History.Fault, Integer> faults = new ConcurrentSkipListMap<>();
        LongAdder histories = new LongAdder();
        LongAdder events = new LongAdder();
        Runnable work = () -> {
            while (broken.isEmpty() && (most != null || System.nanoTime() - begun < SECONDS * 1_000_000_000)) {
                long seed = next.getAndIncrement();
                if (most != null && seed >= first + most) {
                    return;
                }
                History.Result result = History.run(seed, History.Plan.of(seed), null);
                histories.increment();
                events.add(result.events());
                result.faults().forEach((fault, times) -> faults.merge(fault, times, Integer::sum));
                if (result.violation() != null) {
                    broken.add(result);
                }
            }
        };
        Runnable progress = () -> {
            double seconds = (System.nanoTime() - begun) / 1e9;
            System.out.printf(
                    "simulation: seeds from %d, %d histories, %d events, %.0f histories and %.0f events a second%n",
                    first, histories.sum(), events.sum(), histories.sum() / seconds, events.sum() / seconds);
        };
        int threads = most == null
                ? 1
                : Integer.getInteger("threads", Runtime.getRuntime().availableProcessors());
        CompletableFuture<Void> all = CompletableFuture.allOf(Stream.generate(
                        () -> CompletableFuture.runAsync(work, run -> new Thread(run).start()))
                .limit(threads)
                .toArray(CompletableFuture<?>[]::new));
        while (!ended(all)) {
            progress.run();
        }
        if (!broken.isEmpty()) {
            explain(broken.remove(), histories.sum());
        }
        progress.run();
        System.out.println(faults);
        if (faults.size() < History.Fault.values().length) {
            System.out.println("never met: "
                    + Stream.of(History.Fault.values())
                            .filter(fault -> !faults.containsKey(fault))
                            .toList());
        }
        if (Boolean.getBoolean("said")) {
            said.forEach((line, times) -> System.out.println(times + " × " + line));
        }
    }

    /** False after a minute. */
    private static boolean ended(CompletableFuture<Void> all) {
        try {
            all.get(1, TimeUnit.MINUTES);
            return true;
        } catch (TimeoutException goesOn) {
            return false;
        } catch (InterruptedException | ExecutionException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private History.Result tell(long seed, History.Plan plan, Consumer<String> to) {
        story = to;
        try {
            return History.run(seed, plan, to);
        } finally {
            story = line -> {};
        }
    }

    /** Tries the history with fewer faults, claims and plays, as long as it breaks a promise, and tells the shortest. */
    private void explain(History.Result found, long histories) {
        long seed = found.seed();
        History.Plan plan = History.Plan.of(seed);
        for (int i = plan.faults().size() - 1; i >= 0; i--) {
            List<History.Planned> fewer = new ArrayList<>(plan.faults());
            fewer.remove(i);
            plan = shorter(seed, plan, plan.with(fewer));
        }
        for (int claims = 0; claims < plan.claims(); claims = 2 * claims + 1) {
            plan = shorter(seed, plan, plan.with(claims, plan.plays()));
        }
        for (int plays = 0; plays < plan.plays(); plays = 2 * plays + 1) {
            plan = shorter(seed, plan, plan.with(plan.claims(), plays));
        }
        List<String> lines = new ArrayList<>();
        History.Result last = tell(seed, plan, lines::add);
        List<String> shown = new ArrayList<>();
        int ordinary = 0;
        for (int i = lines.size() - 1; i >= 0 && shown.size() < LINES - 2; i--) {
            String line = lines.get(i);
            boolean matters = !line.contains("answer to") || ordinary++ < 8;
            if (matters) {
                shown.add(0, line);
            }
        }
        fail(
                "%s%n%s%nhistory %d of this run; repeat it whole (%s): ./mvnw -q test -Dtest=Simulation -Dseed=%d%s",
                last.violation(),
                String.join("\n", shown),
                histories,
                found.violation(),
                seed,
                History.ALWAYS == null ? "" : " -Dalways=" + History.ALWAYS);
    }

    private static History.Plan shorter(long seed, History.Plan known, History.Plan tried) {
        return History.run(seed, tried, null).violation() == null ? known : tried;
    }
}
