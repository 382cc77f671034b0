package dev.hongbao.simulation;

import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Tuple;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Postgres' sessions, locks and commits in the world; {@link PostgresTables} knows the statements. A statement takes its locks when it
 * begins, and its effect is there when it commits, some time later; both are one transaction. A session whose client is gone ends its
 * current statement all the same.
 */
final class SimulatedPostgres {
    private final World world;
    final PostgresTables tables;
    private final Map<Object, Lock> locks = new LinkedHashMap<>();
    private final Map<Integer, Session> sessions = new LinkedHashMap<>();
    private final Deque<Runnable> unread = new ArrayDeque<>();

    /** When a session of each host ended last. */
    private final Map<World.Host, Long> ends = new HashMap<>();

    private int lastPid = 1000;
    private int restarts;
    private boolean up = true;
    private boolean silent;
    private long silentAt;

    /** The machines that get no connection. */
    private final Set<World.Host> unwanted = new HashSet<>();

    /** Commits take so much longer, while a disk is slow. */
    private long slowNanos;

    /** The SQLSTATE of the next settlements; empty for none. */
    private String refusal = "";

    enum LockMode {
        SHARE,
        KEY_SHARE,
        NO_KEY_UPDATE,
        EXCLUSIVE;

        boolean isBeside(LockMode other) {
            return switch (this) {
                case SHARE -> other == SHARE;
                case KEY_SHARE -> other == KEY_SHARE || other == NO_KEY_UPDATE;
                case NO_KEY_UPDATE -> other == KEY_SHARE;
                case EXCLUSIVE -> false;
            };
        }
    }

    /** A lock of a key, held by a session as often as it took it. */
    private static final class Lock {
        private final List<Held> held = new ArrayList<>();
        private final Deque<Waiting> waiting = new ArrayDeque<>();

        boolean isFree(Session session, LockMode mode) {
            return held.stream().allMatch(each -> each.by == session || each.mode.isBeside(mode));
        }
    }

    private record Held(Session by, LockMode mode) {}

    private record Waiting(Session by, LockMode mode, Runnable granted) {}

    /**
     * The plan of a statement.
     *
     * @param rows the keys of rows that it locks, in this order, until it commits
     * @param mode of these locks
     * @param effect gets the keys that are locked; runs at the commit
     */
    record Plan(List<?> rows, LockMode mode, Kind kind, Function<Collection<?>, List<Map<String, Object>>> effect) {
        enum Kind {
            READ,
            READ_UNLOCKED_ROWS,
            WRITE,
            /** Its locks last as long as the session. */
            LOCK
        }

        static Plan read(Supplier<List<Map<String, Object>>> rows) {
            return new Plan(List.of(), LockMode.SHARE, Kind.READ, none -> rows.get());
        }
    }

    SimulatedPostgres(World world, PostgresTables tables) {
        this.world = world;
        this.tables = tables;
    }

    /** A backend. */
    final class Session {
        final int pid = ++lastPid;
        final World.Host host;
        private final @Nullable Long lockMillis;
        private final @Nullable Long idleMillis;
        private final Deque<Runnable> queue = new ArrayDeque<>();
        private final Set<String> channels = new LinkedHashSet<>();
        private final BiConsumer<String, String> notified;
        private final Runnable ended;

        /** The statements of a transaction that wrote or locked; null for none. Its effects are there from its commit on. */
        private @Nullable List<Runnable> transaction;

        private final List<Object> locked = new ArrayList<>();
        private boolean working;
        private boolean clientGone;
        private long heldUpUntil;
        private boolean over;
        private long lastArrival;
        private long lastReply;

        /** The number of beginnings and ends of statements. */
        private long heard;

        private Session(
                World.Host host,
                @Nullable Long lockMillis,
                @Nullable Long idleMillis,
                BiConsumer<String, String> notified,
                Runnable ended) {
            this.host = host;
            this.lockMillis = lockMillis;
            this.idleMillis = idleMillis;
            this.notified = notified;
            this.ended = ended;
            watchIdle();
        }

        /** Ends the session unless a statement comes within its limit. */
        private void watchIdle() {
            if (idleMillis == null) {
                return;
            }
            long heardBefore = ++heard;
            world.after(idleMillis * World.MILLI, null, () -> {
                if (!over && !working && heard == heardBefore) {
                    world.tell(() -> "Postgres ends the idle session " + pid + " of " + host);
                    end();
                }
            });
        }

        void listen(String channel) {
            channels.add(channel);
        }

        /** @param within whether the statement is in a transaction that goes on */
        void send(
                String sql,
                Tuple parameters,
                boolean within,
                Consumer<List<Map<String, Object>>> answered,
                Consumer<Throwable> failed) {
            lastArrival = Math.max(lastArrival, world.now() + world.transit());
            world.at(lastArrival, null, () -> arrived(() -> begin(sql, parameters, within, answered, failed)));
        }

        private void arrived(Runnable statement) {
            if (over || !up) {
                return;
            }
            if (silent) {
                unread.add(() -> arrived(statement));
                return;
            }
            heard++;
            queue.add(statement);
            next();
        }

        private void next() {
            if (working || over) {
                return;
            }
            if (clientGone && (queue.isEmpty() || world.oneIn(2))) {
                over();
                return;
            }
            Runnable statement = queue.poll();
            if (statement != null) {
                working = true;
                statement.run();
            }
        }

        private void begin(
                String sql,
                Tuple parameters,
                boolean within,
                Consumer<List<Map<String, Object>>> answered,
                Consumer<Throwable> failed) {
            world.after(world.millis(0.05, 0.6), null, () -> {
                if (over) {
                    return;
                }
                try {
                    Plan plan = switch (sql) {
                        case "commit" -> Plan.read(() -> over(true));
                        case "rollback" -> Plan.read(() -> over(false));
                        default -> {
                            Plan alone = tables.plan(sql, parameters, SimulatedPostgres.this, this);
                            yield within ? within(alone) : alone;
                        }
                    };
                    take(plan, new ArrayList<>(), 0, answered, failed);
                } catch (PgException refused) {
                    finish(() -> failed.accept(refused));
                }
            });
        }

        /** A statement of a transaction: only a later one of the transaction sees its effect, and its locks stay. */
        private Plan within(Plan alone) {
            if (transaction == null && alone.rows.isEmpty() && alone.kind != Plan.Kind.WRITE) {
                return alone;
            }
            return new Plan(alone.rows, alone.mode, alone.kind, taken -> {
                List<Runnable> before = transaction == null ? new ArrayList<>() : transaction;
                List<Object> rows = List.copyOf(taken);
                Runnable undo = tables.save();
                try {
                    before.forEach(Runnable::run);
                    List<Map<String, Object>> answer = alone.effect.apply(rows);
                    before.add(() -> alone.effect.apply(rows));
                    transaction = before;
                    locked.addAll(rows);
                    taken.clear();
                    return answer;
                } finally {
                    undo.run();
                }
            });
        }

        boolean isWithinTransaction() {
            return transaction != null;
        }

        private List<Map<String, Object>> over(boolean commits) {
            List<Runnable> all = transaction;
            transaction = null;
            Runnable undo = tables.save();
            try {
                if (commits && all != null) {
                    all.forEach(Runnable::run);
                }
                return List.of();
            } catch (PgException refused) {
                undo.run();
                throw refused;
            } finally {
                releaseAll(locked);
                locked.clear();
            }
        }

        /** Takes the plan's locks one after the other, then commits. */
        private void take(
                Plan plan,
                List<Object> taken,
                int at,
                Consumer<List<Map<String, Object>>> answered,
                Consumer<Throwable> failed) {
            if (over) {
                return;
            }
            if (at == plan.rows.size()) {
                long took = plan.kind == Plan.Kind.WRITE ? world.millis(0.3, 3) + slowNanos : 0;
                world.after(took, null, () -> commit(plan, taken, answered, failed));
                return;
            }
            Object key = plan.rows.get(at);
            Lock lock = locks.computeIfAbsent(key, first -> new Lock());
            if (lock.isFree(this, plan.mode) && lock.waiting.isEmpty()) {
                lock.held.add(new Held(this, plan.mode));
                taken.add(key);
                take(plan, taken, at + 1, answered, failed);
            } else if (plan.kind == Plan.Kind.READ_UNLOCKED_ROWS) {
                take(plan, taken, at + 1, answered, failed);
            } else {
                Waiting waiting = new Waiting(this, plan.mode, () -> {
                    taken.add(key);
                    take(plan, taken, at + 1, answered, failed);
                });
                lock.waiting.add(waiting);
                boolean limited = lockMillis != null;
                long limit = (limited ? lockMillis : 8_000) * World.MILLI;
                world.after(limit, null, () -> {
                    if (!over && lock.waiting.remove(waiting)) {
                        releaseAll(taken);
                        finish(() -> failed.accept(
                                limited ? refused("55P03", "lock timeout") : refused("57014", "statement timeout")));
                        grant(lock);
                    }
                });
            }
        }

        private void commit(
                Plan plan,
                List<Object> taken,
                Consumer<List<Map<String, Object>>> answered,
                Consumer<Throwable> failed) {
            if (over) {
                return;
            }
            if (world.now() < heldUpUntil) {
                world.at(heldUpUntil, null, () -> commit(plan, taken, answered, failed));
                return;
            }
            try {
                if (plan.kind == Plan.Kind.WRITE && !refusal.isEmpty()) {
                    throw refused(refusal, "refused");
                }
                List<Map<String, Object>> rows = plan.effect.apply(taken);
                finish(() -> answered.accept(rows));
            } catch (PgException refused) {
                finish(() -> failed.accept(refused));
            }
            if (plan.kind != Plan.Kind.LOCK) {
                releaseAll(taken);
            }
        }

        private void finish(Runnable reply) {
            working = false;
            watchIdle();
            if (!clientGone) {
                lastReply = Math.max(lastReply, world.now() + world.transit());
                world.at(lastReply, host, reply);
            }
            world.at(world.now(), null, this::next);
        }

        private void releaseAll(List<Object> taken) {
            for (Object key : taken) {
                release(this, key);
            }
        }

        /** The client closed the connection, or is dead. */
        void leave() {
            clientGone = true;
            world.after(world.transit(), null, () -> {
                if (!working) {
                    over();
                }
            });
        }

        /** The backend ends now; its statement is undone. */
        void end() {
            if (over) {
                return;
            }
            over();
            world.after(world.transit(), host, ended);
        }

        private void over() {
            over = true;
            ends.put(host, world.now());
            sessions.remove(pid);
            queue.clear();
            locks.values().forEach(lock -> {
                lock.held.removeIf(held -> held.by == this);
                lock.waiting.removeIf(waiting -> waiting.by == this);
            });
            List.copyOf(locks.values()).forEach(SimulatedPostgres.this::grant);
        }

        boolean isOver() {
            return over;
        }
    }

    static PgException refused(String state, String message) {
        return new PgException(message, "ERROR", state, "");
    }

    /**
     * Connects.
     *
     * @param lockMillis a statement's longest wait for a lock; null for the statement's own limit
     * @param idleMillis after so long without a statement the session ends; null for never
     */
    void connect(
            World.Host host,
            @Nullable Long lockMillis,
            @Nullable Long idleMillis,
            BiConsumer<String, String> notified,
            Runnable ended,
            Consumer<Session> connected,
            Consumer<Throwable> failed) {
        world.after(world.transit() + world.millis(0.5, 3), null, () -> {
            if (!up || silent || unwanted.contains(host)) {
                world.after(world.transit(), host, () -> failed.accept(new IOException("connection refused")));
                return;
            }
            Session session = new Session(host, lockMillis, idleMillis, notified, ended);
            sessions.put(session.pid, session);
            world.after(world.transit(), host, () -> connected.accept(session));
        });
    }

    private void grant(Lock lock) {
        for (Iterator<Waiting> all = lock.waiting.iterator(); all.hasNext(); ) {
            Waiting next = all.next();
            if (!lock.isFree(next.by, next.mode)) {
                return;
            }
            all.remove();
            lock.held.add(new Held(next.by, next.mode));
            world.at(world.now(), null, next.granted);
        }
    }

    private void release(Session session, Object key) {
        Lock lock = locks.get(key);
        for (Iterator<Held> all = lock.held.iterator(); all.hasNext(); ) {
            if (all.next().by == session) {
                all.remove();
                break;
            }
        }
        grant(lock);
    }

    /** An advisory lock, {@code (class, number)}. */
    record Advisory(int of, int number) {}

    boolean tryAdvisory(Session session, Advisory key) {
        Lock lock = locks.computeIfAbsent(key, first -> new Lock());
        if (!lock.isFree(session, LockMode.EXCLUSIVE)) {
            return false;
        }
        lock.held.add(new Held(session, LockMode.EXCLUSIVE));
        return true;
    }

    void unlockAdvisory(Session session, Advisory key) {
        if (locks.containsKey(key)) {
            release(session, key);
        }
    }

    boolean holds(World.Host host, Advisory key) {
        Lock lock = locks.get(key);
        return lock != null && lock.held.stream().anyMatch(each -> each.by.host == host);
    }

    int restarts() {
        return restarts;
    }

    /** Whether a session of a host ended so lately that an answer from before may still be under way. */
    boolean hasJustEnded(World.Host host) {
        return ends.containsKey(host) && world.now() - ends.get(host) < 200 * World.MILLI;
    }

    /** The holders of advisory locks of a class, by the second key. */
    Map<Integer, Set<Session>> advisory(int of) {
        Map<Integer, Set<Session>> holders = new java.util.TreeMap<>();
        locks.forEach((key, lock) -> {
            if (key instanceof Advisory advisory && advisory.of == of) {
                for (Held held : lock.held) {
                    holders.computeIfAbsent(advisory.number, first -> new LinkedHashSet<>())
                            .add(held.by);
                }
            }
        });
        return holders;
    }

    void notify(String channel, String payload, Session by) {
        for (Session session : List.copyOf(sessions.values())) {
            if (session.channels.contains(channel)) {
                world.after(world.transit(), session.host, () -> {
                    if (!session.over) {
                        session.notified.accept(channel, by.pid + " " + payload);
                    }
                });
            }
        }
    }

    long now() {
        return world.now();
    }

    /** The sessions' pids of a host. */
    Set<Integer> pids(World.Host host) {
        Set<Integer> pids = new TreeSet<>();
        sessions.values().stream().filter(each -> each.host == host).forEach(each -> pids.add(each.pid));
        return pids;
    }

    void hostDied(World.Host host) {
        List.copyOf(sessions.values()).stream()
                .filter(each -> each.host == host)
                .forEach(Session::leave);
    }

    /** All sessions end; nothing of their statements happened. */
    void restart(long downNanos) {
        up = false;
        restarts++;
        unread.clear();
        List.copyOf(sessions.values()).forEach(Session::end);
        world.after(downNanos, null, () -> up = true);
    }

    /** Ends one of the sessions, mostly in the middle of a statement, whose commit may take long. */
    void breakOne() {
        List<Session> busy =
                sessions.values().stream().filter(each -> each.working).toList();
        List<Session> all = busy.isEmpty() || world.oneIn(4) ? List.copyOf(sessions.values()) : busy;
        if (!all.isEmpty()) {
            Session one = all.get(world.random.nextInt(all.size()));
            world.tell(() -> "the session " + one.pid + " of " + one.host + " breaks");
            one.heldUpUntil = world.now() + (world.oneIn(2) ? world.millis(1, 400) : 0);
            one.clientGone = true; // its statement goes on, and the client does not learn its end
            world.after(world.transit(), one.host, one.ended);
            if (!one.working) {
                one.over();
            }
        }
    }

    /** All sessions of a machine end but those that hold locks, and it gets no other until {@link #letIn}. */
    void leaveOnlyLocks(World.Host host) {
        unwanted.add(host);
        List.copyOf(sessions.values()).stream()
                .filter(each -> each.host == host && each.idleMillis == null)
                .forEach(Session::end);
    }

    void letIn(World.Host host) {
        unwanted.remove(host);
    }

    void slowDown(long nanos) {
        slowNanos = nanos;
    }

    void refuse(String state) {
        refusal = state;
    }

    void fallSilent() {
        silent = true;
    }

    /** When it was silent for the last time. */
    long silentAt() {
        return silent ? world.now() : silentAt;
    }

    void speak() {
        silent = false;
        silentAt = world.now();
        unread.forEach(Runnable::run);
        unread.clear();
    }
}
