package dev.hongbao.draw;

import dev.hongbao.access.Profiles;
import dev.hongbao.access.Restrictions;
import dev.hongbao.draw.Play.SettledPlays;
import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.engine.Settlements;
import dev.hongbao.engine.Shards;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.values.DrawId;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The draws of a server: what its event loops share, the services of a loop, and the parts that the engine knows. Thread-safe; a loop's
 * services belong to that loop.
 */
public final class Draws {
    /** Closed draws whose keys wait for their removal. The sweep of leftover keys removes the rest. */
    private static final int MAX_CLOSED = 10_000;

    private static final Duration LEAST_HELD = Duration.ofSeconds(10);

    /** The parts that need no running server. */
    public static final Mode.Traits TRAITS = new Mode.Traits(
            List.of("play", "draw", "period", "end", "return"),
            (generation, draw) -> {
                DrawId id = new DrawId(draw);
                return List.of(DrawKeys.hash(generation, id), DrawKeys.schedule(generation, id));
            },
            pool -> settlers(new Settlements<>(), new DrawCatalog(new DrawStore(pool)), new ArrayDeque<>()),
            DrawComparison::new);

    private final DrawCatalog catalog;

    /** Hears each settled play. */
    public final Settlements<SettledPlays> settlements = new Settlements<>();

    final DrawFiles files;
    private final DrawStore store;
    private final PlayRequestStore requests;
    private final PlayMetrics metrics;
    private final Pool pool;
    private final Shards shards;
    private final Quarantine quarantine;
    private final Clock clock;

    /**
     * @param pool of the requests
     * @param maxWaiting requests that may wait for the statement that holds their cost
     * @param clock Postgres' clock as this server knows it
     */
    public Draws(Pool pool, Shards shards, Quarantine quarantine, int maxWaiting, Clock clock, MeterRegistry metrics) {
        this.pool = pool;
        this.shards = shards;
        this.quarantine = quarantine;
        this.clock = clock;
        this.metrics = new PlayMetrics(metrics);
        this.store = new DrawStore(pool, quarantine.forReaders());
        this.catalog = new DrawCatalog(store);
        shards.whenPostgresWentBack(catalog::forgetAll);
        this.files = new DrawFiles(pool, catalog);
        this.requests = new PlayRequestStore(pool, catalog, maxWaiting, this.metrics);
    }

    /** The draws of the current event loop. */
    public DrawService service(KeyLoader keys) {
        return new DrawService(pool, shards, quarantine, store, catalog, keys, clock);
    }

    /** The plays of the current event loop. */
    public PlayService plays(Attempts attempts, Restrictions restrictions) {
        return plays(attempts, restrictions, PlayBatcher.NUMBERS);
    }

    /** @param numbers random numbers of a play in its first call, 0 or more */
    public PlayService plays(Attempts attempts, Restrictions restrictions, int numbers) {
        PlayBatcher batcher = new PlayBatcher(attempts, metrics, numbers);
        return new PlayService(attempts, catalog, store, requests, restrictions, metrics, batcher, settlements);
    }

    /** The routes of draws, plays and wins, by {@code operationId}, on the current event loop. */
    public Map<String, Route> routes(DrawService draws, PlayRoutes plays, Profiles profiles, HttpFace face) {
        return DrawRoutes.of(this, draws, plays, profiles, face);
    }

    /** The draws with these ids, from memory or one query. Unknown draws are absent. */
    public Future<Map<DrawId, Draw>> findAll(Collection<DrawId> ids) {
        return catalog.findAll(ids);
    }

    /** Carries settled plays between servers. */
    public SettledPlays.Wire wire() {
        return new SettledPlays.Wire(catalog, settlements);
    }

    /** The wins of the current event loop. */
    Wins wins(DrawService draws) {
        return new Wins(draws, pool);
    }

    /**
     * The age from which a hold without a decision is resolved: longer than a server tries a request, and well below a user's patience.
     *
     * @param settleTimeout how long a server tries a request
     */
    public static Duration heldLong(Duration settleTimeout) {
        Duration tried = settleTimeout.plusSeconds(5);
        return tried.compareTo(LEAST_HELD) > 0 ? tried : LEAST_HELD;
    }

    /**
     * The mode of a writer, which reads on its own connections.
     *
     * @param pool of the shards' owner
     * @param heldLong the age from which a hold is resolved
     */
    public Mode mode(Loop loop, Pool pool, Duration heldLong) {
        DrawStore draws = new DrawStore(pool, quarantine.forOwners());
        DrawCatalog owners = catalog.over(draws);
        BlockingQueue<DrawId> closed = new LinkedBlockingQueue<>(MAX_CLOSED);
        shards.whenPostgresWentBack(closed::clear); // a closed draw may be open again, with new keys
        List<OwnerTask> tasks = new ArrayList<>();
        tasks.addAll(new DrawOwnerTask(pool, draws, owners, new DrawPlanner(pool), closed, shards, loop).tasks());
        tasks.add(new HoldExpiry(pool, shards, loop, clock, heldLong));
        return new Mode(TRAITS, settlers(settlements, owners, closed), new DrawShardLoader(quarantine), tasks);
    }

    private static List<Settler> settlers(
            Settlements<SettledPlays> settlements, DrawCatalog catalog, Queue<DrawId> closed) {
        return List.of(new PlaySettler(catalog, settlements), new EndSettler(closed));
    }
}
