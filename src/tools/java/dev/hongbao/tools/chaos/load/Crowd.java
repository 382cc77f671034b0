package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.history.Heard;
import dev.hongbao.tools.chaos.history.History;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** All simulated clients of a run, each on a thread of its own. Confined to one thread; blocking. */
public final class Crowd {
    private static final int CLIENTS = 20;

    /** Of them, over WebSockets. */
    private static final int ON_SOCKETS = 4;

    /** So that some cores are left for who is asked, and for who races. */
    private static final int PAUSE_MILLIS = 120;

    /** With more of them a race is over before all have run, and they wait for the next. */
    private static final int MOST_IN_RACE = 64;

    /** A client gives up its call and its tries by then. */
    private static final long END_MILLIS = 4L * Api.TIMEOUT_MILLIS;

    private final World world;
    private final List<Thread> threads = new ArrayList<>();
    private final List<SocketClient> onSockets = new ArrayList<>();

    /**
     * Not started yet.
     *
     * @param api makes one for each client
     * @param runners who race, beside the others: sixty-four at the most for one packet
     */
    public Crowd(World world, History history, Supplier<Api> api, SplittableRandom random, int runners) {
        this.world = world;
        for (int i = 0; i < CLIENTS; i++) {
            String name = "client-" + i;
            add(name, new SimulatedClient(world, history, api.get(), random.split(), name, PAUSE_MILLIS));
        }
        for (int i = 0; i < ON_SOCKETS; i++) {
            String name = "socket-" + i;
            SocketClient client =
                    new SocketClient(world, history, api.get()::socket, random.split(), name, PAUSE_MILLIS);
            onSockets.add(client);
            add(name, client);
        }
        List<Race> races = IntStream.range(0, races(runners))
                .mapToObj(number -> new Race(world, history, number))
                .toList();
        for (int i = 0; i < runners; i++) {
            add("runner-" + i, races.get(i / MOST_IN_RACE).runner(api.get(), random.split()));
        }
        add("hostile", new HostileClient(world, history, api.get(), random.split()));
    }

    /** How many races there are for so many who race. */
    public static int races(int runners) {
        return (runners + MOST_IN_RACE - 1) / MOST_IN_RACE;
    }

    private void add(String name, Runnable client) {
        Thread thread = new Thread(client, name);
        thread.setDaemon(true);
        threads.add(thread);
    }

    public void start() {
        threads.forEach(Thread::start);
    }

    /** What was heard over sockets. */
    public List<Heard> heard() {
        return onSockets.stream().flatMap(client -> client.heard().stream()).toList();
    }

    /** Every client ends after its call; returns when all have. */
    public void stop() throws InterruptedException {
        world.stop();
        for (Thread each : threads) {
            each.join(END_MILLIS);
        }
    }
}
