package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.check.Answer;
import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Operation;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One packet after the other, each for hundreds of users at once and at all servers. Each user claims once; some come too late. Several
 * threads run one race.
 */
final class Race {
    private static final int FEWEST = 200;
    private static final int MOST = 1_000;
    private static final int LIFE_SECONDS = 3_600;

    /** Average time between two races. */
    private static final int PAUSE_MILLIS = 25;

    /** A runner that waits for the next packet looks so often for the end of the run. */
    private static final long LOOK_MILLIS = 100;

    private final World world;
    private final int race;
    private final AtomicInteger sent = new AtomicInteger();
    private volatile Hot hot = new Hot("", 0);

    /**
     * @param coming users who claim
     * @param isOver counted down when there is the next packet
     */
    private record Hot(String packet, int coming, AtomicInteger came, CountDownLatch isOver) {
        Hot(String packet, int coming) {
            this(packet, coming, new AtomicInteger(), new CountDownLatch(1));
        }
    }

    Race(World world, int race) {
        this.world = world;
        this.race = race;
    }

    /** The sender in a race: each race has its own, since a user's shares per second are limited. */
    static String sender(int race) {
        return "user-sends-race-" + race;
    }

    Runner runner(SplittableRandom random) {
        return new Runner(random);
    }

    /** Stays with a server while that answers. Confined to one thread; blocking. */
    final class Runner {
        private final SplittableRandom random;
        private int server;

        private Runner(SplittableRandom random) {
            this.random = random;
            this.server = world.server(random);
        }

        void step() throws InterruptedException {
            Hot now = hot;
            int number = now.came.getAndIncrement();
            if (number < now.coming) {
                ask(Call.claim("user-race-" + number, now.packet, server));
            } else if (number == now.coming) { // one runner ends the race
                Crowd.pause(random, PAUSE_MILLIS);
                send();
                now.isOver.countDown();
            } else {
                var unused = now.isOver.await(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            }
        }

        private void send() throws InterruptedException {
            int shares = random.nextInt(FEWEST, MOST + 1);
            String key = "race-" + race + "-" + sent.incrementAndGet();
            String terms = Call.terms(shares, LIFE_SECONDS);
            Answer answer = ask(new Call(Call.Kind.SEND, sender(race), terms, key, 2L * shares, server));
            hot = answer.isOk() ? new Hot(answer.id(), shares + shares / 10) : new Hot("", 0);
        }

        private Answer ask(Call call) throws InterruptedException {
            Operation done = world.ask(call, random);
            server = done.answer().isUnknown()
                    ? world.server(random)
                    : done.call().server();
            return done.answer();
        }
    }
}
