package dev.hongbao.simulation;

import dev.hongbao.engine.Loop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time: everything that happens is an event at a moment that the seed draws. One event runs at a time, in one thread. A
 * hash over all events tells two histories apart.
 */
final class World {
    static final long MILLI = 1_000_000;

    final SplittableRandom random;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final @Nullable Consumer<String> story;
    private long now = 3_600_000 * MILLI;
    private long scheduled;
    private long ran;
    private long hash;

    /** A machine. Its events wait while it is frozen, and are dropped when it is dead. */
    static final class Host {
        final String name;

        /** The difference of its monotonic clock from the others. */
        private final long clockNanos;

        private final Deque<Event> held = new ArrayDeque<>();
        private boolean frozen;
        private boolean dead;

        Host(String name, long clockNanos) {
            this.name = name;
            this.clockNanos = clockNanos;
        }

        boolean isDead() {
            return dead;
        }

        boolean isFrozen() {
            return frozen;
        }

        void die() {
            dead = true;
            held.clear();
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** @param host null for the world's own events */
    private record Event(long at, long order, @Nullable Host host, Runnable task) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return at == other.at ? Long.compare(order, other.order) : Long.compare(at, other.at);
        }
    }

    /** @param story gets each line of the history; null to run fast */
    World(long seed, @Nullable Consumer<String> story) {
        this.random = new SplittableRandom(seed);
        this.story = story;
    }

    long now() {
        return now;
    }

    long events() {
        return ran;
    }

    long hash() {
        return hash;
    }

    /** Milliseconds since the begin of the history. */
    double millis() {
        return now / 1e6 - 3_600_000;
    }

    void tell(Supplier<String> line) {
        if (story != null) {
            story.accept(String.format("%9.3f ms  %s", millis(), line.get()));
        }
    }

    /** Adds to the hash. */
    void note(long fact) {
        hash = (hash ^ fact) * 0x9E3779B97F4A7C15L;
        hash ^= hash >>> 29;
    }

    void at(long moment, @Nullable Host host, Runnable task) {
        events.add(new Event(Math.max(moment, now), scheduled++, host, task));
    }

    void after(long nanos, @Nullable Host host, Runnable task) {
        at(now + nanos, host, task);
    }

    /** From {@code least} up to below {@code most} milliseconds. */
    long millis(double least, double most) {
        return (long) (random.nextDouble(least, most) * MILLI);
    }

    boolean oneIn(int times) {
        return random.nextInt(times) == 0;
    }

    /** The time of a packet in the network: mostly short, sometimes long. */
    long transit() {
        int kind = random.nextInt(400);
        return kind == 0 ? millis(5, 80) : kind < 12 ? millis(0.5, 5) : millis(0.03, 0.4);
    }

    void freeze(Host host) {
        host.frozen = true;
    }

    /** Runs the events that waited meanwhile, in their order. */
    void thaw(Host host) {
        host.frozen = false;
        long offset = 0;
        for (Event event : host.held) {
            after(offset++, host, event.task);
        }
        host.held.clear();
    }

    /** Runs the next event. */
    void step() {
        Event event = events.remove();
        now = event.at;
        Host host = event.host;
        if (host != null && host.dead) {
            return;
        }
        if (host != null && host.frozen) {
            host.held.add(event);
            return;
        }
        ran++;
        note(now + (host == null ? 0 : host.name.hashCode()));
        event.task.run();
    }

    /** The loops of one server, with its addresses. */
    static final class Loops {
        private final World world;
        private final Host host;
        private final Map<String, List<Consumer<Object>>> heard = new HashMap<>();

        Loops(World world, Host host) {
            this.world = world;
            this.host = host;
        }

        Loop loop() {
            return new VirtualLoop(this);
        }
    }

    private static final class VirtualLoop implements Loop {
        private final Loops loops;
        private final World world;
        private final Set<Long> timers = new HashSet<>();
        private long lastTimer;
        private long lastTask;

        VirtualLoop(Loops loops) {
            this.loops = loops;
            this.world = loops.world;
        }

        @Override
        public long nanos() {
            return world.now + loops.host.clockNanos;
        }

        /** A busy loop runs a timer late. */
        private long late() {
            return world.oneIn(50) ? world.millis(1, 30) : world.millis(0, 1);
        }

        @Override
        public long timer(long millis, Runnable task) {
            long timer = ++lastTimer;
            timers.add(timer);
            world.after(millis * MILLI + late(), loops.host, () -> {
                if (timers.remove(timer)) {
                    task.run();
                }
            });
            return timer;
        }

        @Override
        public long periodic(long millis, Runnable task) {
            long timer = ++lastTimer;
            timers.add(timer);
            tick(timer, millis, task);
            return timer;
        }

        private void tick(long timer, long millis, Runnable task) {
            world.after(millis * MILLI + late(), loops.host, () -> {
                if (timers.contains(timer)) {
                    tick(timer, millis, task);
                    task.run();
                }
            });
        }

        @Override
        public void cancel(long timer) {
            timers.remove(timer);
        }

        /** In the order of the calls. */
        @Override
        public void run(Runnable task) {
            lastTask = Math.max(lastTask, world.now + world.millis(0, 0.1));
            world.at(lastTask, loops.host, task);
        }

        @Override
        public Executor here() {
            return this::run;
        }

        @Override
        public void publish(String address, @Nullable Object message) {
            List.copyOf(loops.heard.getOrDefault(address, List.of())).forEach(each -> each.accept(message));
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> void listen(String address, Consumer<T> listener) {
            loops.heard
                    .computeIfAbsent(address, first -> new ArrayList<>())
                    .add(message -> run(() -> listener.accept((T) message)));
        }
    }
}
