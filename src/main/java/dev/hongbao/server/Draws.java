package dev.hongbao.server;

import dev.hongbao.domain.draw.DrawCatalog;
import dev.hongbao.domain.draw.DrawCleanup;
import dev.hongbao.domain.draw.DrawOwnerTask;
import dev.hongbao.domain.draw.DrawPlanner;
import dev.hongbao.domain.draw.DrawService;
import dev.hongbao.domain.draw.DrawStore;
import dev.hongbao.domain.draw.EndSettler;
import dev.hongbao.domain.play.HoldExpiry;
import dev.hongbao.domain.play.PlayMetrics;
import dev.hongbao.domain.play.PlayService;
import dev.hongbao.domain.play.PlaySettings;
import dev.hongbao.domain.play.PlaySettler;
import dev.hongbao.domain.play.SettledPlayRequests;
import dev.hongbao.engine.journal.KeyLoader;
import dev.hongbao.engine.journal.OwnerTask;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.journal.Settler;
import dev.hongbao.engine.postgres.StoreClock;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.LocalCodec;
import dev.hongbao.engine.shard.Shards;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.util.List;

/** The prize draws' part of the engine: what draws and plays add to it. Safe on any thread but for the services. */
final class Draws {
    /** The names of their scripts. */
    static final List<String> SCRIPTS = List.of("play", "draw", "period", "end", "return");

    private final Vertx vertx;
    private final Pool pool;
    private final Pool ownerPool;
    private final Shards shards;
    private final Quarantine quarantine;
    private final DrawStore store;
    private final DrawCatalog catalog;
    private final DrawCatalog ownersCatalog;
    private final PlayMetrics metrics;
    private final StoreClock clock;

    /**
     * @param pool of requests
     * @param ownerPool of the owner's work
     */
    Draws(
            Vertx vertx,
            Pool pool,
            Pool ownerPool,
            Shards shards,
            Quarantine quarantine,
            MeterRegistry metrics,
            StoreClock clock) {
        this.vertx = vertx;
        this.pool = pool;
        this.ownerPool = ownerPool;
        this.shards = shards;
        this.quarantine = quarantine;
        this.store = new DrawStore(pool, quarantine);
        this.catalog = new DrawCatalog(store);
        this.ownersCatalog = catalog.over(new DrawStore(ownerPool, quarantine));
        this.metrics = new PlayMetrics(metrics);
        this.clock = clock;
        shards.whenPostgresWentBack(catalog::forgetAll);
    }

    /** What they need before anything is settled. Once a Vert.x instance. */
    static void register(Vertx vertx) {
        LocalCodec.register(vertx.eventBus(), SettledPlayRequests.class);
    }

    DrawCatalog catalog() {
        return catalog;
    }

    /** @param closed draws whose keys can go; the same for the owner's tasks */
    List<Settler> settlers(DrawCleanup closed) {
        return List.of(new PlaySettler(ownersCatalog, vertx.eventBus()), new EndSettler(closed));
    }

    List<OwnerTask> ownerTasks(DrawCleanup closed) {
        return List.of(
                new DrawOwnerTask(
                        ownerPool,
                        quarantine,
                        ownersCatalog,
                        new DrawPlanner(ownerPool),
                        closed,
                        shards,
                        vertx.eventBus()),
                new HoldExpiry(ownerPool, shards, vertx.eventBus(), clock, HoldExpiry.HELD_LONG));
    }

    DrawService draws(KeyLoader loading) {
        return new DrawService(pool, shards, quarantine, store, catalog, loading, clock);
    }

    PlayService plays(RedisLink redis, PlaySettings settings) {
        return new PlayService(vertx, redis, pool, shards, quarantine, catalog, store, settings, metrics, clock);
    }
}
