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
 * The feeds of one server, composed: the writing half for the persistence verticle, the hub, and what readers need.
 *
 * <p>This is who writes into the feeds; settlements do not pass through here, they are listened to:
 *
 * <ul>
 *   <li>the end of a packet (drained, expired, refunded): the trigger {@code packet_end_to_feed}, in whatever transaction ends the
 *       packet; the end of a draw: the trigger {@code draw_end_to_feed}, in the same way;
 *   <li>a packet that was sent: the sending server, once it can be claimed ({@link Announcer}); its shard's owner, when the
 *       server did not ({@link FeedOwnerTask});
 *   <li>how far a packet has come: the owner, from the settled claims that it hears of ({@link FeedOwnerTask});
 *   <li>draws that open and what is won in them: the owner, from the settled plays that it hears of ({@link DrawFeedTask});
 *   <li>rains: the server that makes one announces it in the same transaction, the trigger {@code rain_ends} tells its end, and the
 *       owner what is between, drops among it ({@link RainFeedTask}).
 * </ul>
 *
 * What the owner did not hear of, because a settlement's outcome is unknown or another server made it, it reads from Postgres.
 */
public final class Feeds implements SettlementListener {
    /** Events of a group that are kept. */
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
     * @param readers of those who read
     * @param owner of the owner's work
     * @param lengthy of its statements that may take minutes
     */
    public record Pools(Pool readers, Pool owner, Pool lengthy) {}

    /** What the feeds ask of packets. */
    public record Packets(PacketStore store, PacketCatalog catalog, EndedPackets ended) {}

    /** What is settled. */
    public record Settled(Settlements<SettledClaims> claims, Settlements<SettledPlayRequests> plays) {}

    /**
     * How the feeds keep up.
     *
     * @param interval how often to look for what other servers wrote
     * @param keep how long events are kept
     */
    public record Pace(Duration interval, Duration keep) {}

    /**
     * Once a Vert.x instance.
     *
     * @param settled of this server
     * @param renderer makes the text of events, which the feeds do not know
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

    /** What a settlement wrote into the feeds itself is read at once; the rest is told by {@link #owner's tasks}. */
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

    /** What a shard's owner does for the feeds. */
    public List<OwnerTask> ownerTasks() {
        return List.of(ownerTask, drawTask, rainTask);
    }

    /** Who on this server wants to hear of other servers' settlements. */
    public Audience audience() {
        return hub.audience();
    }

    /** Starts the hub; before {@link #following}. */
    public Future<Void> start() {
        return vertx.deployVerticle(hub).mapEmpty();
    }

    /** Removes nothing more and stops asking Postgres for settlements; before its pools are closed, and after the owner's tasks. */
    public Future<Void> close() {
        return trimmer.close()
                .compose(ended -> hub.deploymentID() == null
                        ? Future.succeededFuture()
                        : vertx.undeploy(hub.deploymentID()).mapEmpty());
    }

    /** For the event loop it is called on. */
    public FeedFollower following() {
        return new FeedFollower(vertx, hub, reader);
    }

    public FeedReader reader() {
        return reader;
    }
}
