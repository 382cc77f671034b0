package dev.hongbao.feed;

import dev.hongbao.draw.DrawCatalog;
import dev.hongbao.journal.Chore;
import dev.hongbao.journal.LocalCodec;
import dev.hongbao.journal.Settler;
import dev.hongbao.journal.Shards;
import dev.hongbao.packet.EndedPackets;
import dev.hongbao.packet.PacketCatalog;
import dev.hongbao.packet.PacketLoaded;
import dev.hongbao.packet.PacketStore;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.List;

/** The feeds of one server, composed: the writing half for the persistence verticle, the hub, and what readers need. */
public final class Feeds {
    /** Events of a group that are kept. */
    public static final int MAX_EVENTS = 1_000;

    private final Vertx vertx;
    private final FeedHub hub;
    private final FeedReader reader;
    private final FeedChore chore;
    private final DrawNews drawNews;

    /**
     * Once a Vert.x instance.
     *
     * @param pool for readers
     * @param ownerPool for the owner's work
     * @param lengthyPool for its statements that may take minutes
     * @param interval how often to look for what other servers wrote
     * @param keep how long events are kept
     */
    public Feeds(
            Vertx vertx,
            Pool pool,
            Pool ownerPool,
            Pool lengthyPool,
            Shards shards,
            PacketCatalog catalog,
            EndedPackets ended,
            DrawCatalog draws,
            Duration interval,
            Duration keep) {
        LocalCodec.register(vertx.eventBus(), PacketLoaded.class);
        LocalCodec.register(vertx.eventBus(), FeedNews.class);
        FeedStore store = new FeedStore(pool);
        FeedStore ownerStore = new FeedStore(ownerPool);
        EventText text = new EventText(catalog, ended, draws);
        this.vertx = vertx;
        ClaimsElsewhere elsewhere = new ClaimsElsewhere(vertx, new PacketStore(pool), catalog);
        this.hub = new FeedHub(store, text, elsewhere, interval);
        this.reader = new FeedReader(store, text);
        this.chore =
                new FeedChore(vertx, ownerStore, new FeedStore(lengthyPool), shards, ended::isKnown, keep, MAX_EVENTS);
        this.drawNews = new DrawNews(vertx, ownerPool);
        var unused = new Announcer(vertx, store);
        shards.whenPostgresWentBack(() -> {
            elsewhere.forget();
            chore.forget();
            drawNews.suspect();
            hub.restart();
        });
    }

    /** The same settlers; what they settle is told. */
    public List<Settler> feeding(List<Settler> settlers) {
        return settlers.stream()
                .<Settler>map(settler -> new FeedingSettler(settler, vertx, () -> {
                    chore.suspect();
                    drawNews.suspect();
                }))
                .toList();
    }

    /** What a shard's owner does for the feeds. */
    public List<Chore> chores() {
        return List.of(chore, drawNews);
    }

    /** Starts the hub; before {@link #following}. */
    public Future<Void> start() {
        return vertx.deployVerticle(hub).mapEmpty();
    }

    /** Stops asking Postgres for news; before its pools are closed. */
    public Future<Void> close() {
        return hub.deploymentID() == null
                ? Future.succeededFuture()
                : vertx.undeploy(hub.deploymentID()).mapEmpty();
    }

    /** For the event loop it is called on. */
    public FeedFollowing following() {
        return new FeedFollowing(vertx, hub, reader);
    }

    public FeedReader reader() {
        return reader;
    }
}
