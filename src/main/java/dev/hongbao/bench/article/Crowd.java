package dev.hongbao.bench.article;

import dev.hongbao.bench.article.Way.Told;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Users who race through one way, one share each, on some threads with a client each. What a client leaves behind is taken up
 * by another.
 */
public final class Crowd {
    /** As many as article 1 has. */
    public static final int THREADS = 20;

    private final Way way;
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
        Fate fate(int number, int steps) {
            return oneIn == 0
                    ? Fate.lucky()
                    : Fate.drawn(new SplittableRandom(seed + number * 0x9E37_79B9L), oneIn, steps, stall);
        }
    }

    /** How many shares a second it gave away, and how right that was. */
    public record Race(double perSecond, Wrongs wrongs) {}

    private Crowd(Way way, Misfortune misfortune) {
        this.way = way;
        this.misfortune = misfortune;
    }

    /** Fills the way's stores, lets all users claim, and looks who has what. */
    public static Race race(Way way, int users, Misfortune misfortune) throws Exception {
        Way.Supply supply = way.fill(users);
        try {
            Crowd crowd = new Crowd(way, misfortune);
            double perSecond = crowd.run(users);
            AtomicInteger part = new AtomicInteger(users);
            if (misfortune.oneIn > 0) {
                way.settle(() -> misfortune.fate(part.getAndIncrement(), 2));
            }
            return new Race(perSecond, Wrongs.in(supply, way.granted(), way.left(), crowd.toldNothing.get()));
        } finally {
            way.clear();
        }
    }

    private double run(int users) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            Way.Client client = way.open();
            threads.add(new Thread(() -> claimAll(client, users), "article-" + t));
        }
        long begun = System.nanoTime();
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        double seconds = (System.nanoTime() - begun) / 1e9;
        claimAll(way.open(), users); // what the last ones left behind
        Exception failed = fault.get();
        if (failed != null) {
            throw failed;
        }
        return (users - toldNothing.get()) / seconds;
    }

    private void claimAll(Way.Client first, int users) {
        Way.Client client = first;
        try {
            while (fault.get() == null) {
                Integer again = abandoned.poll();
                int user = again != null ? again : next.getAndIncrement();
                if (user >= users) {
                    break;
                }
                Fate fate = again != null ? Fate.lucky() : misfortune.fate(user, way.steps());
                try {
                    if (client.claim(user, fate) == Told.NOTHING) {
                        toldNothing.incrementAndGet();
                    }
                } catch (Fate.DiedException | Fate.NoAnswerException gone) {
                    abandoned.add(user);
                    client.close();
                    client = way.open();
                }
            }
            client.close();
        } catch (Exception broken) {
            fault.compareAndSet(null, broken);
        }
    }
}
