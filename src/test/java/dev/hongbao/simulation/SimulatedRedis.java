package dev.hongbao.simulation;

import dev.hongbao.engine.Loop;
import dev.hongbao.store.redis.Faults;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.store.redis.Script;
import dev.hongbao.store.redis.Subscription;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.impl.RequestImpl;
import io.vertx.redis.client.impl.types.BulkType;
import io.vertx.redis.client.impl.types.MultiType;
import io.vertx.redis.client.impl.types.NumberType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One Redis server in the world: {@link RedisModel} with a script cache, a replication id and connections. It loses data, restarts,
 * falls silent and fills up. A broken connection loses the replies of commands that ran, and the commands that had not arrived.
 */
final class SimulatedRedis {
    private static final long FIRST_RETRY_MILLIS = 20;
    private static final long LAST_RETRY_MILLIS = 500;

    private final World world;
    private final String name;
    private final List<Link> links = new ArrayList<>();
    private final Deque<Runnable> unread = new ArrayDeque<>();
    private Snapshot now = new Snapshot(new RedisModel(), new HashMap<>());
    private int replids;
    private long changedAt;
    private long formerUntil;
    private int restarts;
    private boolean up = true;
    private boolean silent;

    /** The longest wait of a command. */
    private long timeoutNanos = 1_000 * World.MILLI;

    /** The machines whose new connections hang. */
    private final Set<World.Host> cutOff = new HashSet<>();

    /** Gets the text of each script that wrote something. */
    private final Consumer<String> wrote;

    /** The data at a moment, with the scripts. */
    record Snapshot(RedisModel data, Map<String, String> scripts) {
        private Snapshot copy() {
            return new Snapshot(data.copy(), new HashMap<>(scripts));
        }
    }

    SimulatedRedis(World world, String name, Consumer<String> wrote) {
        this.world = world;
        this.name = name;
        this.wrote = wrote;
        this.now.data.replid = name + "r0";
    }

    @Override
    public String toString() {
        return name;
    }

    RedisModel model() {
        return now.data;
    }

    RedisLinks open(Loop loop, World.Host host) {
        Link link = new Link(loop, host);
        links.add(link);
        return link;
    }

    Snapshot snapshot() {
        return now.copy();
    }

    void flush() {
        now.data.clear();
        changedAt = world.now();
    }

    void lose(String key) {
        now.data.call(List.of("DEL", key));
        changedAt = world.now();
    }

    /** When it had other data for the last time. */
    long changedAt() {
        return changedAt;
    }

    /** Whether it has scripts of a generation. */
    boolean hasScripts(String stamp) {
        return now.scripts.values().stream().anyMatch(text -> text.contains(stamp));
    }

    void hostDied(World.Host host) {
        links.removeIf(link -> link.host == host);
    }

    void forgetScripts() {
        now.scripts.clear();
    }

    void fill(boolean full) {
        now.data.fill(full);
    }

    /** Stops for some time, and comes back with the given data and without scripts. A later restart replaces one under way. */
    void restart(RedisModel data, long downNanos) {
        up = false;
        int number = ++restarts;
        RedisModel kept = data.copy();
        breakAll();
        world.after(downNanos, null, () -> {
            if (number == restarts) {
                become(new Snapshot(kept, Map.of()));
                up = true;
            }
        });
    }

    /** A demoted primary is promoted again: older data, its scripts, another replication id. */
    void promote(Snapshot older, boolean keepsConnections) {
        if (!keepsConnections) {
            breakAll();
        }
        become(older);
    }

    /** A replica is promoted: it lacks the last writes, and has no scripts. The former primary goes on on a host's connections. */
    void promote(RedisModel older, World.Host stays) {
        Snapshot former = now;
        links.stream().filter(link -> link.host == stays).forEach(link -> link.former = former);
        unread.clear();
        links.stream().filter(link -> link.host != stays).toList().forEach(Link::breakNow);
        become(new Snapshot(older, Map.of()));
        formerUntil = Long.MAX_VALUE;
    }

    /** When the last former primary ended; it refused by data of its own. */
    long formerUntil() {
        return formerUntil;
    }

    /** The former primary ends. */
    void endFormer() {
        formerUntil = world.now();
        links.stream().filter(link -> link.former != null).toList().forEach(Link::breakNow);
    }

    /** Older data is put in the place of its own, as {@code SWAPDB} does: scripts and connections stay, and the replication id. */
    void swap(RedisModel older) {
        String replid = now.data.replid;
        now = new Snapshot(older.copy(), now.scripts);
        now.data.replid = replid;
        changedAt = world.now();
    }

    private void become(Snapshot other) {
        now = other.copy();
        now.data.replid = name + "r" + ++replids;
        changedAt = world.now();
    }

    private void breakAll() {
        unread.clear();
        List.copyOf(links).forEach(Link::breakNow);
    }

    /** Breaks one of the connections. */
    void breakOne() {
        links.removeIf(link -> link.host.isDead());
        if (!links.isEmpty()) {
            links.get(world.random.nextInt(links.size())).breakNow();
        }
    }

    /** The part that a line loses while neither end notices. */
    enum Loss {
        REQUESTS,
        ANSWERS,
        ALL
    }

    /** A host's open connections lose this from now on, and do not end. New ones hang until {@link #letIn}. */
    void cutOff(World.Host host, Loss loss) {
        cutOff.add(host);
        links.stream().filter(link -> link.host == host).forEach(link -> link.loss = loss);
    }

    void letIn(World.Host host) {
        cutOff.remove(host);
    }

    /** One of a host's connections loses this, and does not end. A new one works. */
    void swallow(World.Host host, Loss loss) {
        List<Link> some = links.stream().filter(link -> link.host == host).toList();
        if (!some.isEmpty()) {
            some.get(world.random.nextInt(some.size())).loss = loss;
        }
    }

    /** Commands wait so long for their answers. */
    void timeout(long millis) {
        timeoutNanos = millis * World.MILLI;
    }

    /** Reads nothing until {@link #speak}. */
    void fallSilent() {
        silent = true;
    }

    void speak() {
        silent = false;
        unread.forEach(Runnable::run);
        unread.clear();
    }

    private @Nullable Object execute(Snapshot at, String command, List<String> arguments) {
        RedisModel model = at.data;
        Map<String, String> scripts = at.scripts;
        switch (command) {
            case "evalsha" -> {
                String text = scripts.get(arguments.get(0));
                if (text == null) {
                    throw new RedisModel.RedisError("NOSCRIPT No matching script");
                }
                int keys = Integer.parseInt(arguments.get(1));
                long before = model.writes();
                Object reply =
                        model.eval(text, arguments.subList(2, 2 + keys), arguments.subList(2 + keys, arguments.size()));
                if (model.writes() > before) {
                    wrote.accept(text);
                }
                return reply;
            }
            case "script" -> {
                if (arguments.get(0).equals("LOAD")) {
                    Script script = Script.of(
                            new String(arguments.get(1).getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8));
                    scripts.put(script.sha(), script.text());
                    return script.sha();
                }
                return arguments.stream()
                        .skip(1)
                        .<Object>map(sha -> scripts.containsKey(sha) ? 1L : 0L)
                        .toList();
            }
            default -> {
                List<String> call = new ArrayList<>(List.of(command.toUpperCase(Locale.ROOT)));
                call.addAll(arguments);
                return model.call(call);
            }
        }
    }

    /** One connection, and its successors. */
    private final class Link implements RedisLink, RedisLinks {
        private final Loop loop;
        private final World.Host host;
        private final Deque<Sent> pending = new ArrayDeque<>();
        private int connection;
        private boolean connected = true;
        private boolean closed;
        private boolean watched;
        private @Nullable Loss loss;

        /** The primary before the last promotion, to which this connection still leads; null for the present one. */
        private @Nullable Snapshot former;

        private long retryMillis = FIRST_RETRY_MILLIS;
        private long lastArrival;
        private long lastReply;

        private record Sent(long atNanos, Promise<@Nullable Response> reply) {}

        Link(Loop loop, World.Host host) {
            this.loop = loop;
            this.host = host;
        }

        @Override
        public Future<@Nullable Response> send(Request request) {
            if (!connected) {
                return Future.failedFuture(Faults.down());
            }
            RequestImpl call = (RequestImpl) request;
            List<String> arguments = new ArrayList<>();
            call.getArgs().forEach(each -> arguments.add(new String(each, StandardCharsets.ISO_8859_1)));
            Sent sent = new Sent(loop.nanos(), Promise.promise());
            pending.add(sent);
            watch();
            int on = connection;
            lastArrival = Math.max(lastArrival, world.now() + world.transit());
            world.at(
                    lastArrival,
                    null,
                    () -> arrived(on, call.command().toString().toLowerCase(Locale.ROOT), arguments, sent));
            return sent.reply.future();
        }

        private void arrived(int on, String command, List<String> arguments, Sent sent) {
            if (!up || on != connection && world.oneIn(2) || loses(on, Loss.REQUESTS)) {
                return;
            }
            if (silent) {
                unread.add(() -> arrived(on, command, arguments, sent));
                return;
            }
            Response response = null;
            RuntimeException fault = null;
            try {
                response =
                        response(execute(former == null ? now : former, command, arguments), command.equals("xinfo"));
            } catch (RedisModel.RedisError error) {
                fault = Faults.reply(String.valueOf(error.getMessage()));
            }
            Response answer = response;
            RuntimeException failure = fault;
            lastReply = Math.max(lastReply, world.now() + world.transit());
            world.at(lastReply, host, () -> {
                if (on == connection && !loses(on, Loss.ANSWERS) && pending.remove(sent)) {
                    if (failure == null) {
                        sent.reply.complete(answer);
                    } else {
                        sent.reply.fail(failure);
                    }
                }
            });
        }

        private boolean loses(int on, Loss part) {
            return on == connection && (loss == part || loss == Loss.ALL);
        }

        /** A late reply ends the connection. */
        private void watch() {
            Sent oldest = pending.peek();
            if (watched || oldest == null) {
                return;
            }
            watched = true;
            world.after(Math.max(1, timeoutNanos - (loop.nanos() - oldest.atNanos)), host, () -> {
                watched = false;
                Sent next = pending.peek();
                if (next != null && loop.nanos() - next.atNanos >= timeoutNanos) {
                    drop();
                } else {
                    watch();
                }
            });
        }

        void breakNow() {
            int on = connection;
            world.after(world.transit(), host, () -> {
                if (on == connection) {
                    drop();
                }
            });
        }

        private void drop() {
            connection++;
            connected = false;
            former = null;
            List<Sent> lost = List.copyOf(pending);
            pending.clear();
            reconnect();
            lost.forEach(each -> each.reply.fail(Faults.lost()));
        }

        /** As the real link: a refused attempt fails at once, one without an answer after the timeout. */
        private void reconnect() {
            world.after(retryMillis * World.MILLI + world.transit(), host, () -> {
                if (closed) {
                    return;
                }
                if (up && !silent && !cutOff.contains(host)) {
                    connected = true;
                    loss = null;
                    retryMillis = FIRST_RETRY_MILLIS;
                    return;
                }
                retryMillis = Math.min(LAST_RETRY_MILLIS, 2 * retryMillis);
                world.after(up ? timeoutNanos : 0, host, this::reconnect);
            });
        }

        @Override
        public boolean isConnected() {
            return connected;
        }

        @Override
        public RedisLink server() {
            return this;
        }

        @Override
        public RedisLink linkFor(String key) {
            return this;
        }

        @Override
        public List<RedisLink> servers() {
            return List.of(this);
        }

        @Override
        public Subscription subscribe(List<String> channels, BiConsumer<String, Buffer> heard) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Future<Void> close() {
            closed = true;
            connected = false;
            links.remove(this);
            return Future.succeededFuture();
        }
    }

    /** A reply as the client gives it. */
    private static @Nullable Response response(@Nullable Object value, boolean isMap) {
        if (value instanceof Long number) {
            return NumberType.create(number);
        } else if (value instanceof List<?> list) {
            MultiType multi = MultiType.create(isMap ? list.size() / 2 : list.size(), isMap);
            list.forEach(each -> multi.add(response(each, false)));
            return multi;
        }
        return value == null
                ? null
                : BulkType.create(Buffer.buffer(value.toString().getBytes(StandardCharsets.ISO_8859_1)), false);
    }
}
