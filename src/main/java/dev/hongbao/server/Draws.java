package dev.hongbao.server;

import dev.hongbao.domain.draw.DrawCatalog;
import dev.hongbao.domain.draw.DrawCleanup;
import dev.hongbao.domain.draw.DrawFiles;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.DrawKeys;
import dev.hongbao.domain.draw.DrawOwnerTask;
import dev.hongbao.domain.draw.DrawPlanner;
import dev.hongbao.domain.draw.DrawService;
import dev.hongbao.domain.draw.DrawShardLoader;
import dev.hongbao.domain.draw.DrawStore;
import dev.hongbao.domain.draw.EndSettler;
import dev.hongbao.domain.play.GatheredHolds;
import dev.hongbao.domain.play.HoldExpiry;
import dev.hongbao.domain.play.PlayFacts;
import dev.hongbao.domain.play.PlayMetrics;
import dev.hongbao.domain.play.PlayService;
import dev.hongbao.domain.play.PlaySettler;
import dev.hongbao.domain.play.SettledPlayRequests;
import dev.hongbao.domain.reconcile.DrawComparison;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.engine.admission.AdmissionControl;
import dev.hongbao.engine.journal.AttemptSettings;
import dev.hongbao.engine.journal.KeyLoader;
import dev.hongbao.engine.journal.Mode;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.journal.Settlements;
import dev.hongbao.engine.journal.Settler;
import dev.hongbao.engine.postgres.StoreClock;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.util.List;

/** The prize draws' part of the engine: what draws and plays add to it. Thread-safe but for the services. */
final class Draws {
    static final Mode.Traits TRAITS = new Mode.Traits(
            List.of("play", "draw", "period", "end", "return"),
            (generation, draw) -> {
                DrawId id = new DrawId(draw);
                return List.of(DrawKeys.hash(generation, id), DrawKeys.schedule(generation, id));
            },
            pool -> settlers(new Settlements<>(), new DrawCatalog(new DrawStore(pool)), new DrawCleanup()),
            DrawComparison::new);

    private final Vertx vertx;
    private final Pool pool;
    private final Pool ownerPool;
    private final Shards shards;
    private final Quarantine quarantine;
    private final DrawStore store;
    private final DrawCatalog catalog;
    private final DrawStore ownerStore;
    private final PlayMetrics metrics;
    private final GatheredHolds holds;
    private final StoreClock clock;
    private final Settlements<SettledPlayRequests> settlements = new Settlements<>();

    Draws(Foundation base) {
        this.vertx = base.vertx();
        this.pool = base.pools().requests();
        this.ownerPool = base.pools().owner();
        this.shards = base.shards();
        this.quarantine = base.quarantine();
        this.store = new DrawStore(pool, quarantine.forReaders());
        this.catalog = new DrawCatalog(store);
        this.ownerStore = new DrawStore(ownerPool, quarantine.forOwners());
        this.metrics = new PlayMetrics(base.metrics());
        this.holds = new GatheredHolds(pool, base.config().domain().claim().maxWaiting(), metrics);
        this.clock = base.clock();
        shards.whenPostgresWentBack(catalog::forgetAll);
    }

    /** Where settled plays are told. */
    Settlements<SettledPlayRequests> settlements() {
        return settlements;
    }

    /** What other servers are told of settlements. */
    PlayFacts facts() {
        return new PlayFacts(catalog, settlements);
    }

    DrawCatalog catalog() {
        return catalog;
    }

    /** For one writer. */
    Mode mode() {
        DrawCatalog ownersCatalog = catalog.over(ownerStore);
        DrawCleanup closed = new DrawCleanup();
        shards.whenPostgresWentBack(closed::forget);
        return new Mode(
                TRAITS,
                settlers(settlements, ownersCatalog, closed),
                new DrawShardLoader(quarantine),
                List.of(
                        new DrawOwnerTask(
                                ownerPool,
                                ownerStore,
                                ownersCatalog,
                                new DrawPlanner(ownerPool),
                                closed,
                                shards,
                                vertx),
                        new HoldExpiry(ownerPool, shards, vertx, clock, HoldExpiry.HELD_LONG)));
    }

    private static List<Settler> settlers(
            Settlements<SettledPlayRequests> settlements, DrawCatalog catalog, DrawCleanup closed) {
        return List.of(new PlaySettler(catalog, settlements), new EndSettler(closed));
    }

    DrawService draws(KeyLoader loading) {
        return new DrawService(pool, shards, quarantine, store, catalog, loading, clock);
    }

    DrawFiles files() {
        return new DrawFiles(pool, store, catalog);
    }

    PlayService plays(
            RedisLinks redis, AdmissionControl admission, Restrictions restrictions, AttemptSettings settings) {
        return new PlayService(
                vertx,
                redis,
                pool,
                shards,
                quarantine,
                catalog,
                store,
                holds,
                admission,
                restrictions,
                settings,
                metrics,
                settlements,
                clock);
    }
}
