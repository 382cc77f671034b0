package dev.hongbao.feed;

import dev.hongbao.access.Profiles;
import dev.hongbao.campaign.Campaigns;
import dev.hongbao.draw.Draws;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.Mode.SettlementListener;
import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.engine.Shards;
import dev.hongbao.http.CallsInFlight;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.packet.PacketService;
import dev.hongbao.packet.Packets;
import dev.hongbao.values.PacketId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The feeds of one server, composed: the owner tasks for the persistence verticle, the hub, and the readers' parts.
 *
 * <p>Writers of events; settlements are only listened to:
 *
 * <ul>
 *   <li>the end of a packet (drained, expired, refunded) or a draw: the triggers {@code packet_end_to_feed} and {@code draw_end_to_feed},
 *       in the transaction of the end;
 *   <li>a sent packet: the sending server, once it is claimable ({@link Announcer}); otherwise its shard's owner ({@link FeedOwnerTask});
 *   <li>a packet's progress: the owner, from the settled claims of its listener ({@link FeedOwnerTask});
 *   <li>openings and wins of draws: the owner, from the settled plays of its listener ({@link DrawFeedTask});
 *   <li>rains: the creating server announces one in the same transaction, and the trigger {@code rain_ends} writes its end. The owner
 *       writes all events in between, including drops ({@link RainFeedTask}).
 * </ul>
 *
 * After an unknown outcome, or another server's settlement, the owner reads Postgres instead.
 */
public final class Feeds implements SettlementListener {
    /** Events kept per group. */
    public static final int MAX_EVENTS = 1_000;

    private static final Duration TRIM_INTERVAL = Duration.ofSeconds(10);

    /** The delay of an event that another server wrote: nobody sees a tenth of a second. */
    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    private final Vertx vertx;
    private final Shards shards;
    private final FeedStore store;
    private final FeedStore ownerStore;
    private final FeedTrimmer trimmer;
    private final DrawFeedTask drawTask;
    private final RainFeedTask rainTask;

    @SuppressWarnings("NullAway.Init") // set by follows
    private FeedReader reader;

    @SuppressWarnings("NullAway.Init") // set by follows
    private FeedHub hub;

    @SuppressWarnings("NullAway.Init") // set by follows
    private FeedOwnerTask ownerTask;

    /**
     * Once a Vert.x instance. {@link #follows} completes it.
     *
     * @param readers pool of reads
     * @param owner pool of the owner's work
     * @param lengthy pool of the owner's statements that may take minutes
     * @param keep how long events are kept
     */
    public Feeds(Vertx vertx, Shards shards, Pool readers, Pool owner, Pool lengthy, Duration keep) {
        Loop.passes(vertx, Packets.Loaded.class);
        Loop.passes(vertx, FeedHub.Part.class);
        this.vertx = vertx;
        this.shards = shards;
        this.store = new FeedStore(readers);
        this.ownerStore = new FeedStore(owner);
        this.trimmer = new FeedTrimmer(ownerStore, new FeedStore(lengthy), keep, MAX_EVENTS, TRIM_INTERVAL);
        this.drawTask =
                new DrawFeedTask(Loop.of(vertx), owner, id -> shards.current(id).generation());
        this.rainTask = new RainFeedTask(vertx, owner, ownerStore);
        var unused = new Announcer(vertx, store);
    }

    /** Takes the settled facts of this server, and looks up the subjects of events. Once, before the start. */
    public Feeds follows(Packets packets, Draws draws, Campaigns campaigns, Profiles profiles) {
        EventText renderer = new EventText(packets.service, draws, campaigns, profiles);
        reader = new FeedReader(store, renderer);
        Audience audience = new Audience();
        RemoteClaims elsewhere = new RemoteClaims(packets.settlements, packets.service, audience);
        hub = new FeedHub(store, renderer, elsewhere, audience, POLL_INTERVAL);
        ownerTask =
                new FeedOwnerTask(Loop.of(vertx), ownerStore, shards, packets.service::isKnownOver, trimmer::trimIfDue);
        packets.settlements.here().add(settled -> ownerTask.settled(settled.packets()));
        draws.settlements.here().add(settled -> drawTask.settled(settled.requests()));
        shards.whenPostgresWentBack(() -> {
            elsewhere.forget();
            ownerTask.suspect();
            trimmer.forget();
            drawTask.suspect();
            hub.restart();
        });
        return this;
    }

    /** Reads the events that a settlement itself wrote. {@link #ownerTasks} write the others. */
    @Override
    public void settled() {
        if (hub.audience().isAnywhere()) {
            vertx.eventBus().publish(Audience.NUDGE, null);
        }
    }

    @Override
    public void uncertain() {
        ownerTask.suspect();
        drawTask.suspect();
    }

    /** The owner's tasks for the feeds. */
    @Override
    public List<OwnerTask> ownerTasks() {
        return List.of(ownerTask, drawTask.openings(), drawTask, rainTask);
    }

    /** The listeners to other servers' settlements. */
    public Audience audience() {
        return hub.audience();
    }

    /** Starts the hub. Call it before {@link #service}. */
    public Future<Void> start() {
        return vertx.deployVerticle(hub).mapEmpty();
    }

    /** Stops the trimming and the search for settlements. Call it after the owner's tasks, before the pools are closed. */
    public Future<Void> close() {
        return trimmer.close()
                .compose(ended -> hub.deploymentID() == null
                        ? Future.succeededFuture()
                        : vertx.undeploy(hub.deploymentID()).mapEmpty());
    }

    /** The route of the feeds, by {@code operationId}. @param feed of the current event loop @param inFlight limits the reads */
    public static Map<String, Route> routes(FeedService feed, CallsInFlight inFlight, HttpFace face) {
        return Map.of("listEvents", face.guarded(new EventsRoute(feed, face.polls(), inFlight)::answer));
    }

    /** The feeds' readers of the current event loop. */
    public FeedService service(PacketService packets, Campaigns campaigns, Profiles profiles) {
        return new FeedService(vertx, new FeedFollower(vertx, hub), reader, packets, campaigns, profiles);
    }

    /**
     * Announces packets that are now claimable. Packets gather during a statement and for a moment after its start. The shard's owner announces
     * packets lost here by a crash or a fault, see {@link FeedOwnerTask}. Thread-safe.
     */
    private static final class Announcer {
        private static final Logger LOG = LoggerFactory.getLogger(Announcer.class);

        /** Waiting packets at most. The owner announces the rest. */
        private static final int MAX_WAITING = 10_000;

        private static final int BATCH = 500;

        /**
         * The least time between two statements' starts. Each writes the feed of every group with events, so under load fewer statements cost
         * less. {@link FeedHub} polls no more often.
         */
        private static final long MIN_GAP_NANOS = 20_000_000;

        private final Vertx vertx;
        private final FeedStore store;
        private final Set<PacketId> waiting = ConcurrentHashMap.newKeySet();
        private final AtomicBoolean busy = new AtomicBoolean();
        private volatile long begunNanos = System.nanoTime() - MIN_GAP_NANOS;

        Announcer(Vertx vertx, FeedStore store) {
            this.vertx = vertx;
            this.store = store;
            vertx.eventBus().<Packets.Loaded>localConsumer(Packets.Loaded.ADDRESS, loaded -> {
                if (waiting.size() < MAX_WAITING) {
                    waiting.addAll(loaded.body().packets());
                    announce();
                }
            });
        }

        private void announce() {
            if (waiting.isEmpty() || !busy.compareAndSet(false, true)) {
                return;
            }
            long gap = MIN_GAP_NANOS - (System.nanoTime() - begunNanos);
            if (gap > 0) {
                vertx.setTimer(gap / 1_000_000 + 1, later -> announceNow());
            } else {
                announceNow();
            }
        }

        /** Called only by the caller that set it busy. */
        private void announceNow() {
            begunNanos = System.nanoTime();
            List<PacketId> batch = new ArrayList<>();
            for (PacketId packet : waiting) {
                batch.add(packet);
                if (batch.size() == BATCH) {
                    break;
                }
            }
            batch.forEach(waiting::remove);
            store.announce(batch).onComplete(done -> {
                busy.set(false);
                if (done.succeeded()) {
                    vertx.eventBus().publish(Audience.NUDGE, null);
                } else {
                    LOG.warn(
                            "{} packets are left to their owners to announce: {}",
                            batch.size(),
                            done.cause().toString());
                }
                announce();
            });
        }
    }
}
