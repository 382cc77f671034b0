package dev.hongbao.server;

import dev.hongbao.draw.ClosedDraws;
import dev.hongbao.draw.DrawCatalog;
import dev.hongbao.draw.DrawChore;
import dev.hongbao.draw.DrawPlanner;
import dev.hongbao.draw.DrawService;
import dev.hongbao.draw.DrawStore;
import dev.hongbao.draw.EndSettler;
import dev.hongbao.journal.Chore;
import dev.hongbao.journal.KeyLoading;
import dev.hongbao.journal.LocalCodec;
import dev.hongbao.journal.Quarantine;
import dev.hongbao.journal.Settler;
import dev.hongbao.journal.Shards;
import dev.hongbao.play.HeldTurns;
import dev.hongbao.play.PlayMetrics;
import dev.hongbao.play.PlayService;
import dev.hongbao.play.PlaySettings;
import dev.hongbao.play.PlaySettler;
import dev.hongbao.play.SettledTurns;
import dev.hongbao.postgres.StoreClock;
import dev.hongbao.redis.RedisLink;
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
        LocalCodec.register(vertx.eventBus(), SettledTurns.class);
    }

    DrawCatalog catalog() {
        return catalog;
    }

    /** @param closed draws whose keys can go; the same for the chores */
    List<Settler> settlers(ClosedDraws closed) {
        return List.of(new PlaySettler(ownersCatalog, vertx.eventBus()), new EndSettler(closed));
    }

    List<Chore> chores(ClosedDraws closed) {
        return List.of(
                new DrawChore(
                        ownerPool,
                        quarantine,
                        ownersCatalog,
                        new DrawPlanner(ownerPool),
                        closed,
                        shards,
                        vertx.eventBus()),
                new HeldTurns(ownerPool, shards, vertx.eventBus(), clock, HeldTurns.HELD_LONG));
    }

    DrawService draws(KeyLoading loading) {
        return new DrawService(pool, shards, quarantine, store, catalog, loading, clock);
    }

    PlayService plays(RedisLink redis, PlaySettings settings) {
        return new PlayService(vertx, redis, pool, shards, quarantine, catalog, store, settings, metrics, clock);
    }
}
