package dev.hongbao.domain.feed;

import dev.hongbao.domain.claim.SettledClaims;
import dev.hongbao.domain.packet.EndedPackets;
import dev.hongbao.domain.packet.PacketCatalog;
import dev.hongbao.domain.packet.PacketStore;
import dev.hongbao.domain.packet.PacketsLoaded;
import dev.hongbao.domain.play.SettledPlayRequests;
import dev.hongbao.engine.cluster.Audience;
import dev.hongbao.engine.journal.OwnerTask;
import dev.hongbao.engine.journal.SettlementListener;
import dev.hongbao.engine.journal.Settlements;
import dev.hongbao.engine.shard.LocalCodec;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.List;

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

    private final Vertx vertx;
    private final FeedHub hub;
    private final FeedReader reader;
    private final FeedTrimmer trimmer;
    private final FeedOwnerTask ownerTask;
    private final DrawFeedTask drawTask;
    private final RainFeedTask rainTask;

    /**
     * The pools of the feeds.
     *
     * @param readers for requests
     * @param owner for the owner's work
     * @param lengthy for the owner's statements that may take minutes
     */
    public record Pools(Pool readers, Pool owner, Pool lengthy) {}

    /** The packets' services used by the feeds. */
    public record Packets(PacketStore store, PacketCatalog catalog, EndedPackets ended) {}

    /** The settlements to listen to. */
    public record Settled(Settlements<SettledClaims> claims, Settlements<SettledPlayRequests> plays) {}

    /**
     * The intervals of the feeds.
     *
     * @param interval between two polls for other servers' events
     * @param keep how long events are kept
     */
    public record Pace(Duration interval, Duration keep) {}

    /**
     * Once per Vert.x instance.
     *
     * @param settled of this server
     * @param renderer renders the events, whose texts the feeds do not know
     */
    public Feeds(
            Vertx vertx,
            Pools pools,
            Shards shards,
            Packets packets,
            Settled settled,
            EventRenderer renderer,
            Pace pace) {
        LocalCodec.register(vertx.eventBus(), PacketsLoaded.class);
        LocalCodec.register(vertx.eventBus(), FeedPart.class);
        FeedStore store = new FeedStore(pools.readers);
        FeedStore ownerStore = new FeedStore(pools.owner);
        this.vertx = vertx;
        Audience audience = new Audience();
        RemoteClaims elsewhere = new RemoteClaims(settled.claims, packets.store, packets.catalog, audience);
        this.hub = new FeedHub(store, renderer, elsewhere, audience, pace.interval);
        this.reader = new FeedReader(store, renderer);
        this.trimmer = new FeedTrimmer(
                ownerStore,
                new FeedStore(pools.lengthy),
                new FeedTrimmer.Retention(pace.keep, MAX_EVENTS, TRIM_INTERVAL));
        this.ownerTask = new FeedOwnerTask(vertx, ownerStore, shards, packets.ended::isKnown, trimmer);
        this.drawTask = new DrawFeedTask(vertx, pools.owner);
        this.rainTask = new RainFeedTask(vertx, pools.owner, ownerStore);
        settled.claims.here().add(claims -> ownerTask.settled(claims.packets()));
        settled.plays.here().add(plays -> drawTask.settled(plays.requests()));
        var unused = new Announcer(vertx, store);
        shards.whenPostgresWentBack(() -> {
            elsewhere.forget();
            ownerTask.suspect();
            trimmer.forget();
            drawTask.suspect();
            hub.restart();
        });
    }

    /** Reads the events that a settlement itself wrote. {@link #ownerTasks} write the others. */
    @Override
    public void settled() {
        if (hub.audience().isAnywhere()) {
            vertx.eventBus().publish(FeedHub.NUDGE, null);
        }
    }

    @Override
    public void uncertain() {
        ownerTask.suspect();
        drawTask.suspect();
    }

    /** The owner's tasks for the feeds. */
    public List<OwnerTask> ownerTasks() {
        return List.of(ownerTask, drawTask, rainTask);
    }

    /** The listeners to other servers' settlements. */
    public Audience audience() {
        return hub.audience();
    }

    /** Starts the hub. Call it before {@link #following}. */
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

    /** A follower for the current event loop. */
    public FeedFollower following() {
        return new FeedFollower(vertx, hub, reader);
    }

    public FeedReader reader() {
        return reader;
    }
}
