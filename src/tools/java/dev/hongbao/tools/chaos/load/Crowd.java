package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.check.Seen;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** All simulated clients of a run, each on its own thread, and the host's backend. Confined to one thread; blocking. */
public final class Crowd {
    /** The users who send and claim: few, so that a user often claims what it has. */
    public static final List<String> USERS =
            IntStream.range(0, 120).mapToObj(i -> "user-" + i).toList();

    private static final int CLIENTS = 20;
    private static final int SOCKET_CLIENTS = 4;

    /** Average pauses: they leave some CPU to the servers and the races. */
    static final int PAUSE_MILLIS = 120;

    private static final int HOSTILE_PAUSE_MILLIS = 20;

    /** With more of them a race ends before all have run. */
    private static final int RUNNERS_PER_RACE = 64;

    /** A client has given up its call and its tries by then. */
    private static final long POLL_MILLIS = 200;

    private static final long END_MILLIS = 4 * Api.LIMIT.toMillis();

    private final World world;
    private final List<Thread> threads = new ArrayList<>();
    private final List<SocketClient> socketClients = new ArrayList<>();
    private final Queue<IllegalStateException> failures = new ConcurrentLinkedQueue<>();
    private final List<Seen.Event> polled = new ArrayList<>();
    private String after = "";

    /** One client. */
    private interface Client {
        /** Called again and again until the run is over. */
        void step() throws InterruptedException;
    }

    /**
     * Starts none yet.
     *
     * @param campaign of the clients' pools
     * @param runners clients who race for packets
     */
    public Crowd(Api api, String draw, String campaign, SplittableRandom random, int runners) {
        this.world = new World(api, draw, campaign);
        for (int i = 0; i < CLIENTS; i++) {
            SplittableRandom own = random.split();
            SimulatedClient client = new SimulatedClient(world, own, "client-" + i);
            add("client-" + i, () -> {
                client.step();
                pause(own, PAUSE_MILLIS);
            });
        }
        for (int i = 0; i < SOCKET_CLIENTS; i++) {
            SocketClient client = new SocketClient(world, random.split(), "socket-" + i);
            socketClients.add(client);
            add("socket-" + i, client::step);
        }
        List<Race> races = IntStream.range(0, races(runners))
                .mapToObj(number -> new Race(world, number))
                .toList();
        for (int i = 0; i < runners; i++) {
            Race race = races.get(i / RUNNERS_PER_RACE);
            SplittableRandom own = random.split();
            int[] server = {world.server(own)};
            add("runner-" + i, () -> server[0] = race.step(own, server[0]));
        }
        SplittableRandom hostile = random.split();
        add("hostile", () -> {
            String packet = world.packet(hostile);
            if (!packet.isEmpty()) {
                api.perform(Attack.any(hostile, packet, world.server(hostile)));
            }
            pause(hostile, HOSTILE_PAUSE_MILLIS);
        });
        add("rain-maker", new RainMaker(world)::step);
        int[] turn = {0};
        add("poller", () -> poll(api, turn[0]++ % api.servers()));
    }

    /** As the host's backend, at one server after the other. */
    private void poll(Api api, int server) throws InterruptedException {
        try {
            JsonObject page = api.read(server, Api.OUTBOX + after);
            polled.addAll(Api.events(page));
            after = "&after=" + page.getString("next");
        } catch (IOException unanswered) {
            // the next server is asked
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }

    static void pause(SplittableRandom random, int averageMillis) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(random.nextInt(2 * averageMillis + 1));
    }

    /** Number of races: up to sixty-four runners share one. */
    public static int races(int runners) {
        return (runners + RUNNERS_PER_RACE - 1) / RUNNERS_PER_RACE;
    }

    private void add(String name, Client client) {
        Thread thread = new Thread(
                () -> {
                    try {
                        while (!world.isOver()) {
                            client.step();
                        }
                    } catch (InterruptedException stopped) {
                        Thread.currentThread().interrupt();
                    } catch (RuntimeException failed) {
                        failures.add(new IllegalStateException(name + " failed", failed));
                    }
                },
                name);
        thread.setDaemon(true);
        threads.add(thread);
    }

    public void start() {
        threads.forEach(Thread::start);
    }

    /**
     * Every client ends after its call; returns when all have.
     *
     * @throws IllegalStateException the first failure of a client, or if one does not end
     */
    public void stop() throws InterruptedException {
        world.stop();
        for (Thread each : threads) {
            each.join(END_MILLIS);
            if (each.isAlive()) {
                failures.add(new IllegalStateException(each.getName() + " does not end"));
            }
        }
        IllegalStateException first = failures.peek();
        if (first != null) {
            throw first;
        }
    }

    /** The events that the poller read; after {@link #stop}. */
    public List<Seen.Event> polled() {
        return polled;
    }

    /** The group's events that arrived over sockets; after {@link #stop}. */
    public List<Seen.Heard> heard() {
        return socketClients.stream().flatMap(client -> client.heard().stream()).toList();
    }
}
