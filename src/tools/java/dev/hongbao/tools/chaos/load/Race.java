package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Operation;
import java.util.SplittableRandom;
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

    /** A runner looks so often for the next packet. */
    private static final long LOOK_MILLIS = 20;

    private final World world;
    private final int race;
    private final AtomicInteger sent = new AtomicInteger();
    private volatile Hot hot = new Hot("", 0);

    /** @param coming users who claim */
    private record Hot(String packet, int coming, AtomicInteger came) {
        Hot(String packet, int coming) {
            this(packet, coming, new AtomicInteger());
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

    /**
     * One claim of a runner, which stays with a server while that answers. The runner that finds no user left sends the next packet; the
     * others wait for it.
     *
     * @return the server of the runner's next step
     */
    int step(SplittableRandom random, int server) throws InterruptedException {
        Hot now = hot;
        int number = now.came.getAndIncrement();
        if (number > now.coming) {
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            return server;
        }
        Operation done = number < now.coming
                ? world.ask(Call.claim("user-race-" + number, now.packet, server), random)
                : send(random, server);
        return done.answer().isUnknown() ? world.server(random) : done.call().server();
    }

    private Operation send(SplittableRandom random, int server) throws InterruptedException {
        Crowd.pause(random, PAUSE_MILLIS);
        int shares = random.nextInt(FEWEST, MOST + 1);
        String key = "race-" + race + "-" + sent.incrementAndGet();
        String terms = Call.terms(shares, LIFE_SECONDS);
        Operation done = world.ask(new Call(Call.Kind.SEND, sender(race), terms, key, 2L * shares, server), random);
        hot = done.answer().isOk() ? new Hot(done.answer().id(), shares + shares / 10) : new Hot("", 0);
        return done;
    }
}
