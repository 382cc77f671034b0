package dev.hongbao.store.redis;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One event loop's links to the masters of a Redis Cluster, one a master, and the map of their slots. Used on that event loop
 * only.
 *
 * <p>The map is read every second, and soon after a command that shows it to be old. An old map costs time and nothing else. A
 * node without the slot answers MOVED and does nothing. A node's keys of a shard count only within the generation that recovery
 * prepared there.
 *
 * <p>MOVED changes the route of its slot only, and the command is sent again. ASK and TRYAGAIN, for a slot whose keys are moving,
 * are faults: the new node lacks the script. The caller waits and tries again.
 */
final class ClusterLinks implements RedisLinks {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterLinks.class);

    private static final long REFRESH_MILLIS = 1_000;

    /** Between two reads of the map, however many commands find it old. */
    private static final long HURRIED_REFRESH_MILLIS = 100;

    /** A command follows MOVED this often, then it fails. */
    private static final int MAX_REDIRECTS = 3;

    /** A master is dropped after this many maps in a row without it: right after a failover some nodes do not know it yet. */
    private static final int MAPS_UNTIL_LEFT = 5;

    private final Vertx vertx;
    private final RedisAddress address;
    private final Duration timeout;
    private final String name;
    private final long ticks;
    private final Map<String, Master> masters = new HashMap<>();
    private final @Nullable Master[] owners = new Master[ClusterMap.SLOTS];
    private final Map<Integer, SlotLink> links = new HashMap<>();
    private int nextAsked;
    private boolean refreshing;
    private boolean hurried;
    private boolean closed;

    private ClusterLinks(Vertx vertx, RedisAddress address, Duration timeout, String name) {
        this.vertx = vertx;
        this.address = address;
        this.timeout = timeout;
        this.name = name;
        this.ticks = vertx.setPeriodic(REFRESH_MILLIS, tick -> refresh());
    }

    /** A node that has slots, or had some a moment ago. */
    private static final class Master {
        private final String host;
        private final ServerLink link;
        private int unnamed;

        /** @param host with its port */
        Master(String host, ServerLink link) {
            this.host = host;
            this.link = link;
        }
    }

    /** See {@link RedisLinks#open}. Succeeds once one master is connected and every other one was tried. */
    static Future<RedisLinks> open(Vertx vertx, RedisAddress address, Duration timeout, String name) {
        ClusterLinks links = new ClusterLinks(vertx, address, timeout, name);
        return links.askSeeds()
                .compose(map -> {
                    links.adopt(map);
                    return Future.join(links.servers(ServerLink::firstTry));
                })
                .compose(tried -> links.connected().isEmpty()
                        ? Future.failedFuture(RedisFault.down("no master of the cluster answers"))
                        : Future.<RedisLinks>succeededFuture(links))
                .recover(fault -> links.close().transform(shut -> Future.failedFuture(fault)));
    }

    @Override
    public RedisLink linkFor(String key) {
        return links.computeIfAbsent(ClusterMap.slotOf(key), SlotLink::new);
    }

    @Override
    public List<RedisLink> servers() {
        return servers(link -> link);
    }

    private <T> List<T> servers(Function<ServerLink, T> of) {
        return masters.values().stream().map(master -> of.apply(master.link)).toList();
    }

    private List<Master> connected() {
        return masters.values().stream()
                .filter(master -> master.link.isConnected())
                .toList();
    }

    @Override
    public Subscription subscribe(List<String> channels, BiConsumer<String, Buffer> heard) {
        return new Subscription(vertx, this::anyMaster, timeout, name, channels, heard);
    }

    /** Each call returns another master. */
    private Future<RedisOptions> anyMaster() {
        List<Master> connected = connected();
        return connected.isEmpty()
                ? Future.failedFuture(RedisFault.down())
                : Future.succeededFuture(address.optionsOf(nextOf(connected).host));
    }

    @Override
    public Future<Void> close() {
        closed = true;
        vertx.cancelTimer(ticks);
        return Future.join(servers(ServerLink::close)).mapEmpty();
    }

    private final class SlotLink implements RedisLink {
        private final int slot;

        SlotLink(int slot) {
            this.slot = slot;
        }

        @Override
        public boolean isConnected() {
            Master owner = owners[slot];
            return owner != null && owner.link.isConnected();
        }

        @Override
        public RedisLink server() {
            Master owner = owners[slot];
            return owner == null ? this : owner.link;
        }

        @Override
        public Future<@Nullable Response> send(Request request) {
            return send(request, 0);
        }

        private Future<@Nullable Response> send(Request request, int redirects) {
            Master owner = owners[slot];
            if (owner == null) {
                refreshSoon();
                return Future.failedFuture(RedisFault.down("no master has slot " + slot));
            }
            return owner.link.send(request).recover(fault -> {
                RedisFault known = RedisFault.of(fault);
                if (known.tellsOfAnOldMap()) {
                    refreshSoon();
                }
                return known.kind() == RedisFault.Kind.MOVED && redirects < MAX_REDIRECTS && moved(slot, known, owner)
                        ? send(request, redirects + 1)
                        : Future.failedFuture(known);
            });
        }
    }

    /** @return whether the fault names a target */
    private boolean moved(int slot, RedisFault fault, Master from) {
        String to = fault.movedTo(from.host);
        if (closed || to == null) {
            return false;
        }
        owners[slot] = master(to);
        return true;
    }

    private Master master(String hostAndPort) {
        return masters.computeIfAbsent(
                hostAndPort,
                host -> new Master(host, ServerLink.start(vertx, address.optionsOf(host), timeout, name + " " + host)));
    }

    private void adopt(ClusterMap map) {
        masters.values().forEach(master -> master.unnamed++);
        Arrays.fill(owners, null);
        for (ClusterMap.Range range : map.ranges()) {
            Master master = master(range.master());
            master.unnamed = 0;
            Arrays.fill(owners, range.from(), range.to() + 1, master);
        }
        masters.values().removeIf(master -> {
            boolean left = master.unnamed >= MAPS_UNTIL_LEFT;
            if (left) {
                LOG.info("Redis {} no longer has slots", master.host);
                master.link.close();
            }
            return left;
        });
    }

    private void refreshSoon() {
        if (!hurried && !closed) {
            hurried = true;
            vertx.setTimer(HURRIED_REFRESH_MILLIS, later -> {
                hurried = false;
                refresh();
            });
        }
    }

    private Master nextOf(List<Master> connected) {
        return connected.get(Math.floorMod(nextAsked++, connected.size()));
    }

    /** Asks another master each time: one that is cut off from the others would answer with an old map for ever. */
    private void refresh() {
        if (refreshing || closed) {
            return;
        }
        refreshing = true;
        List<Master> connected = connected();
        Future<ClusterMap> asked;
        if (connected.isEmpty()) {
            asked = askSeeds();
        } else {
            Master next = nextOf(connected);
            asked = ask(next.link, next.host);
        }
        asked.onComplete(told -> {
            refreshing = false;
            if (told.succeeded() && !closed) {
                adopt(told.result());
            }
        });
    }

    private static Future<ClusterMap> ask(RedisLink server, String host) {
        return server.send(Request.cmd(Command.CLUSTER).arg("SLOTS")).map(reply -> ClusterMap.of(reply, host));
    }

    /** Asks all configured nodes in parallel, so that a silent one delays nothing. */
    private Future<ClusterMap> askSeeds() {
        List<Future<ClusterMap>> told = address.hosts().stream()
                .map(host -> ServerLink.open(vertx, address.optionsOf(host), timeout, name + " " + host)
                        .compose(seed -> ask(seed, host).eventually(seed::close)))
                .toList();
        return Future.any(told)
                .transform(any -> told.stream()
                        .filter(Future::succeeded)
                        .findFirst()
                        .orElseGet(() -> Future.failedFuture(any.cause())));
    }
}
