package dev.hongbao.tools.bench.article;

import dev.hongbao.tools.local.Threads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Users who race through one strategy, one share each, on threads with a client each. Another client takes up the claim of one that
 * fails.
 */
public final class Crowd {
    /** As many as article 1 has. */
    public static final int THREADS = 20;

    private final Strategy strategy;
    private final Misfortune misfortune;
    private final AtomicInteger next = new AtomicInteger();
    private final Queue<Integer> abandoned = new ConcurrentLinkedQueue<>();
    private final AtomicInteger toldNothing = new AtomicInteger();

    /**
     * The faults.
     *
     * @param oneIn so many claims has a fault; 0 for none
     * @param stall length of a stall
     */
    public record Misfortune(long seed, int oneIn, Duration stall) {
        public static final Misfortune NONE = new Misfortune(0, 0, Duration.ZERO);

        /** A number always has the same fault. */
        Fault fault(int number, int steps) {
            return oneIn == 0
                    ? Fault.lucky()
                    : Fault.drawn(new SplittableRandom(seed + number * 0x9E37_79B9L), oneIn, steps, stall);
        }
    }

    /** Shares granted a second, and the errors. */
    public record Race(double perSecond, Violations violations) {}

    private Crowd(Strategy strategy, Misfortune misfortune) {
        this.strategy = strategy;
        this.misfortune = misfortune;
    }

    /** Fills the strategy's stores, lets all users claim, and looks for errors. */
    public static Race race(Strategy strategy, int users, Misfortune misfortune) throws Exception {
        strategy.clear();
        Strategy.Supply supply = strategy.fill(users);
        try {
            Crowd crowd = new Crowd(strategy, misfortune);
            double perSecond = crowd.run(users);
            AtomicInteger part = new AtomicInteger(users);
            if (misfortune.oneIn > 0) {
                strategy.settle(() -> misfortune.fault(part.getAndIncrement(), 2));
            }
            return new Race(
                    perSecond, Violations.in(supply, strategy.granted(), strategy.left(), crowd.toldNothing.get()));
        } finally {
            strategy.clear();
        }
    }

    private double run(int users) throws Exception {
        List<Callable<Void>> clients = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            Strategy.Client client = strategy.open();
            clients.add(() -> claimAll(client, users));
        }
        long begun = System.nanoTime();
        Threads.all(THREADS, clients);
        double seconds = (System.nanoTime() - begun) / 1e9;
        claimAll(strategy.open(), users); // what the last clients left behind
        return (users - toldNothing.get()) / seconds;
    }

    private @Nullable Void claimAll(Strategy.Client first, int users) throws Exception {
        Strategy.Client client = first;
        while (true) {
            Integer again = abandoned.poll();
            int user = again != null ? again : next.getAndIncrement();
            if (user >= users) {
                client.close();
                return null;
            }
            Fault fault = again != null ? Fault.lucky() : misfortune.fault(user, strategy.steps);
            try {
                if (!strategy.claim(client, user, fault)) {
                    toldNothing.incrementAndGet();
                }
            } catch (Fault.DiedException | Fault.NoAnswerException gone) {
                abandoned.add(user);
                client.close();
                client = strategy.open();
            }
        }
    }
}
