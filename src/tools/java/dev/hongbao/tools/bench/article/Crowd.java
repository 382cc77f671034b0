package dev.hongbao.tools.bench.article;

import dev.hongbao.tools.bench.article.Strategy.Told;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Users who race through one strategy, one share each, on some threads with a client each. What a client leaves behind is taken up
 * by another.
 */
public final class Crowd {
    /** As many as article 1 has. */
    public static final int THREADS = 20;

    private final Strategy strategy;
    private final Misfortune misfortune;
    private final AtomicInteger next = new AtomicInteger();
    private final Queue<Integer> abandoned = new ConcurrentLinkedQueue<>();
    private final AtomicInteger toldNothing = new AtomicInteger();
    private final AtomicReference<Exception> fault = new AtomicReference<>();

    /**
     * How much goes wrong.
     *
     * @param oneIn so many claims meets with something; 0 for none
     * @param stall how long a client that stalls does
     */
    public record Misfortune(long seed, int oneIn, Duration stall) {
        /** Nothing goes wrong. */
        public static final Misfortune NONE = new Misfortune(0, 0, Duration.ZERO);

        /** The same for the same number. */
        Fault fault(int number, int steps) {
            return oneIn == 0
                    ? Fault.lucky()
                    : Fault.drawn(new SplittableRandom(seed + number * 0x9E37_79B9L), oneIn, steps, stall);
        }
    }

    /** How many shares a second it gave away, and how right that was. */
    public record Race(double perSecond, Violations violations) {}

    private Crowd(Strategy strategy, Misfortune misfortune) {
        this.strategy = strategy;
        this.misfortune = misfortune;
    }

    /** Fills the strategy's stores, lets all users claim, and looks who has what. */
    public static Race race(Strategy strategy, int users, Misfortune misfortune) throws Exception {
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
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            Strategy.Client client = strategy.open();
            threads.add(new Thread(() -> claimAll(client, users), "article-" + t));
        }
        long begun = System.nanoTime();
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        double seconds = (System.nanoTime() - begun) / 1e9;
        claimAll(strategy.open(), users); // what the last ones left behind
        Exception failed = fault.get();
        if (failed != null) {
            throw failed;
        }
        return (users - toldNothing.get()) / seconds;
    }

    private void claimAll(Strategy.Client first, int users) {
        Strategy.Client client = first;
        try {
            while (fault.get() == null) {
                Integer again = abandoned.poll();
                int user = again != null ? again : next.getAndIncrement();
                if (user >= users) {
                    break;
                }
                Fault fault = again != null ? Fault.lucky() : misfortune.fault(user, strategy.steps());
                try {
                    if (client.claim(user, fault) == Told.NOTHING) {
                        toldNothing.incrementAndGet();
                    }
                } catch (Fault.DiedException | Fault.NoAnswerException gone) {
                    abandoned.add(user);
                    client.close();
                    client = strategy.open();
                }
            }
            client.close();
        } catch (Exception broken) {
            fault.compareAndSet(null, broken);
        }
    }
}
