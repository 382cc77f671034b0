package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.history.Answer;
import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.History;
import dev.hongbao.tools.chaos.history.Operation;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One packet after the other of which hundreds want a share at once, at all servers, each user once and some too late. Several threads run one
 * race; each has lines of its own.
 */
final class Race {
    private static final int FEWEST = 200;
    private static final int MOST = 1_000;
    private static final int LIFE_SECONDS = 3_600;

    /** Between two races, on average. */
    private static final int PAUSE_MILLIS = 25;

    /** So long does who waits for the next packet look away from the end of the run. */
    private static final long LOOK_MILLIS = 100;

    private final World world;
    private final History history;
    private final int race;
    private final AtomicInteger sent = new AtomicInteger();
    private volatile Hot hot = new Hot("", 0);

    /** The packet, and how many come for it. @param isOver when there is the next one */
    private record Hot(String packet, int coming, AtomicInteger came, CountDownLatch isOver) {
        Hot(String packet, int coming) {
            this(packet, coming, new AtomicInteger(), new CountDownLatch(1));
        }
    }

    /** @param race its number */
    Race(World world, History history, int race) {
        this.world = world;
        this.history = history;
        this.race = race;
    }

    /** For a thread. @param api is closed when it ends */
    Runnable runner(Api api, SplittableRandom random) {
        return new Runner(api, random);
    }

    /** Stays with a server as long as that answers. */
    private final class Runner implements Runnable {
        private final Api api;
        private final SplittableRandom random;
        private final Tries tries;
        private int server;

        Runner(Api api, SplittableRandom random) {
            this.api = api;
            this.random = random;
            this.tries = new Tries(world, api, random);
            this.server = world.server(random);
        }

        @Override
        public void run() {
            try (Api closed = api) {
                while (!world.isStopping() && !history.isFull()) {
                    step();
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }

        private void step() throws InterruptedException {
            Hot now = hot;
            int number = now.came.getAndIncrement();
            if (number < now.coming) {
                ask(Call.claim(World.RACER + number, now.packet, server));
            } else if (number == now.coming) { // one finds that it is over
                TimeUnit.MILLISECONDS.sleep(random.nextInt(2 * PAUSE_MILLIS));
                send();
                now.isOver.countDown();
            } else {
                var unused = now.isOver.await(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            }
        }

        private void send() throws InterruptedException {
            int shares = random.nextInt(FEWEST, MOST + 1);
            String key = "race-" + race + "-" + sent.incrementAndGet();
            Answer answer = ask(new Call(
                    Call.Kind.SEND,
                    World.raceSender(race),
                    Call.terms(shares, LIFE_SECONDS),
                    key,
                    2L * shares,
                    server));
            hot = answer.isOk() ? new Hot(answer.id(), shares + shares / 10) : new Hot("", 0);
        }

        private Answer ask(Call call) throws InterruptedException {
            Operation done = tries.perform(call);
            boolean isKnown = done.answer().verdict() != Answer.Verdict.UNKNOWN;
            server = isKnown ? done.call().server() : world.server(random);
            return done.answer();
        }
    }
}
