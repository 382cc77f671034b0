package dev.hongbao.server;

import dev.hongbao.access.AuditLog;
import dev.hongbao.access.Profiles;
import dev.hongbao.access.Restrictions;
import dev.hongbao.campaign.Campaigns;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.draw.Draws;
import dev.hongbao.engine.AdmissionControl;
import dev.hongbao.engine.Installation;
import dev.hongbao.engine.JournalEntry;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode;
import dev.hongbao.engine.Presence;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.engine.ServerLine;
import dev.hongbao.engine.ShardOwners;
import dev.hongbao.engine.Shards;
import dev.hongbao.feed.Feeds;
import dev.hongbao.ledger.Assets;
import dev.hongbao.ledger.Wallets;
import dev.hongbao.packet.Packets;
import dev.hongbao.reconcile.LatestRuns;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.postgres.Months;
import dev.hongbao.store.postgres.StoreClock;
import dev.hongbao.store.postgres.Sweep;
import dev.hongbao.webhook.Outbox;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A server without its APIs: the parts that all event loops share, the writer, and the timers. {@link Services} has the rest, for each event
 * loop. Thread-safe; call {@link #services} on the event loop that uses them.
 */
public final class Engine {
    private static final long READY_POLL_MILLIS = 10;

    /** A user who signs in soon appears under the right name. */
    private static final Duration TAKE_NAMES_EVERY = Duration.ofMillis(200);

    private static final Duration REFRESH_SHARDS_EVERY = Duration.ofSeconds(1);
    private static final Duration MAKE_MONTHS_EVERY = Duration.ofHours(1);
    private static final Duration SWEEP_OUTBOX_EVERY = Duration.ofMinutes(1);
    private static final Duration SWEEP_EVERY = Duration.ofHours(1);

    /** Beyond, the oldest rows go early: some gigabytes. A statement writes one row for each shard it settled. */
    private static final int MAX_OUTBOX_ROWS = 1_000_000;

    // The stores and their shards
    final Vertx vertx;
    final Loop loop;
    final HongbaoConfig config;
    final StoreConnections stores;
    public final StoreClock clock;
    final Shards shards;
    final Quarantine quarantine;
    private final MeterRegistry metrics;

    // Users and money
    final Profiles profiles;
    public final Restrictions restrictions;
    public final Assets assets;
    public final Wallets wallets;
    public final AuditLog auditLog;

    // Subjects
    public final Packets packets;
    public final Draws draws;
    public final Campaigns campaigns;
    final Feeds feeds;
    public final Outbox outbox;

    // Work
    final AdmissionControl admission;
    final Console console;
    private final Presence presence;
    private final Sweep outboxSweep;
    /** The hourly removals, for a caller that does not wait an hour. */
    public final List<Sweep> sweeps;

    private final Deployment writer;
    private final Deployment messages;
    private long admissionTimer;
    private long webhookTimer;

    private Engine(
            Vertx vertx, StoreConnections stores, HongbaoConfig config, MeterRegistry metrics, Presence presence) {
        this.vertx = vertx;
        this.loop = Loop.of(vertx);
        this.config = config;
        this.metrics = metrics;
        this.stores = stores;
        this.clock = stores.clock;
        this.shards = stores.shards;
        shards.measure(metrics);
        Pools pools = stores.pools;
        this.quarantine = new Quarantine(loop, pools.owner(), metrics);

        this.profiles = new Profiles(pools.requests());
        this.restrictions = new Restrictions(pools.owner(), pools.requests());
        shards.whenPostgresWentBack(restrictions::reload);
        this.assets = new Assets(pools.requests());
        this.wallets = new Wallets(pools.requests(), assets);
        this.auditLog = new AuditLog(pools.requests(), metrics);

        HongbaoConfig.ClaimConfig claims = config.domain().claim();
        this.packets = new Packets(
                pools.requests(), shards, quarantine, assets, () -> stores.openRedis("sends"), config, clock, metrics);
        this.draws = new Draws(pools.requests(), shards, quarantine, claims.maxWaiting(), clock, metrics);
        this.campaigns = new Campaigns(pools.requests(), pools.books(), shards, quarantine, clock);
        this.feeds = new Feeds(
                        vertx,
                        shards,
                        pools.requests(),
                        pools.owner(),
                        pools.lengthy(),
                        config.domain().feedRetention())
                .follows(packets, draws, campaigns, profiles);
        this.outbox = new Outbox(
                vertx,
                pools.requests(),
                pools.outbox(),
                shards.count(),
                config.web().webhooks(),
                clock);

        this.admission = new AdmissionControl(
                shards.count(), claims.settleTimeout(), claims.maxWaiting(), metrics, System::nanoTime);
        this.console = new Console(vertx, stores.addresses, pools, shards.store(), clock);
        this.presence = presence;
        this.outboxSweep = new Sweep(
                pools.lengthy(),
                "the outbox",
                "select outbox_sweep($1 * interval '1 second', $2, $3)",
                config.domain().outboxRetention().toSeconds(),
                MAX_OUTBOX_ROWS);
        Duration keys = config.domain().idempotencyRetention();
        Duration history = config.auditRetention();
        this.sweeps = List.of(
                Sweep.byAge(pools.lengthy(), "the idempotency keys", "idempotency_sweep", keys),
                Sweep.byAge(pools.lengthy(), "the requests whose cost was returned", "play_request_sweep", keys),
                Sweep.byAge(pools.lengthy(), "the audit log", "audit_log_sweep", history),
                Sweep.byAge(pools.lengthy(), "the history of restrictions", "restriction_sweep", history),
                Sweep.byAge(pools.lengthy(), "the history of revocations", "revocation_sweep", history));
        this.writer = new Deployment(vertx);
        this.messages = new Deployment(vertx);
    }

    /** Starts on stores that answer, and migrates the schema. Once a Vert.x instance. */
    public static Future<Engine> start(
            Vertx vertx, StoreAddresses stores, HongbaoConfig config, MeterRegistry metrics) {
        return start(vertx, stores, config, metrics, System::nanoTime, Presence.none());
    }

    /**
     * Starts with another monotonic clock, which continues Postgres' time between two readings.
     *
     * @param nanoTime like {@link System#nanoTime}
     */
    public static Future<Engine> start(
            Vertx vertx, StoreAddresses stores, HongbaoConfig config, MeterRegistry metrics, LongSupplier nanoTime) {
        return start(vertx, stores, config, metrics, nanoTime, Presence.none());
    }

    /** @param presence the keys of this server, for the others of its database, before it owns a shard */
    static Future<Engine> start(
            Vertx vertx,
            StoreAddresses stores,
            HongbaoConfig config,
            MeterRegistry metrics,
            LongSupplier nanoTime,
            Presence presence) {
        Loop.passes(vertx, JournalEntry.class);
        Loop.passes(vertx, Quarantine.Changed.class);
        return StoreConnections.open(vertx, stores, config, metrics, nanoTime)
                .map(connected -> new Engine(vertx, connected, config, metrics, presence))
                .compose(engine -> engine.start().map(engine));
    }

    private Future<Void> start() {
        return clock.follow(vertx)
                // Before any cache is filled: so a Postgres that goes back from now on is another one.
                .compose(asked -> shards.refresh())
                .compose(read -> feeds.start())
                .compose(started -> assets.start(vertx, config.domain().assets()))
                .compose(started -> restrictions.start(vertx))
                .onSuccess(started -> auditLog.start(vertx))
                .compose(started -> vertx.deployVerticle(packets.sender))
                .compose(started -> quarantine.start())
                .compose(started -> outbox.establish())
                .compose(started -> {
                    outboxSweep.start(vertx, SWEEP_OUTBOX_EVERY);
                    webhookTimer = every(SWEEP_OUTBOX_EVERY, outbox::trim);
                    admissionTimer = every(AdmissionControl.TICK, admission::tick);
                    return startWriter();
                })
                .onSuccess(started -> {
                    Pool lengthy = stores.pools.lengthy();
                    every(MAKE_MONTHS_EVERY, () -> stores.makeMonths().compose(made -> Months.analyze(lengthy)));
                    // Without claims, too, this server notices that Postgres went back in time.
                    every(REFRESH_SHARDS_EVERY, shards::refresh);
                    every(TAKE_NAMES_EVERY, profiles::take);
                    new LatestRuns(lengthy)
                            .renew(
                                    vertx,
                                    console::reconcileSinceCheckpoint,
                                    config.engine().reconcileEvery(),
                                    metrics);
                    sweeps.forEach(sweep -> sweep.start(vertx, SWEEP_EVERY));
                });
    }

    /** Settles the journals, then closes the connections; stop the APIs before. */
    public Future<Void> close() {
        vertx.cancelTimer(admissionTimer);
        outboxSweep.stop(vertx);
        vertx.cancelTimer(webhookTimer);
        sweeps.forEach(sweep -> sweep.stop(vertx));
        return auditLog.stop(vertx)
                .eventually(this::stopWriter)
                .eventually(feeds::close)
                .eventually(() -> packets.sender.deploymentID() == null
                        ? Future.succeededFuture()
                        : vertx.undeploy(packets.sender.deploymentID()))
                .eventually(stores::close);
    }

    private long every(Duration interval, Runnable work) {
        return vertx.setPeriodic(interval.toMillis(), tick -> work.run());
    }

    /** Opens the services of the current event loop. */
    public Future<Services> services() {
        return stores.openRedis("claims").map(redis -> new Services(this, redis));
    }

    /** Deploys the writer, which owns shards and settles their journals. It runs after a start. Idempotent. */
    public Future<Void> startWriter() {
        return writer.start(() -> shards.writer(
                loop,
                stores.pools.postgres(),
                () -> stores.openRedis("persistence"),
                quarantine,
                modes(),
                feeds,
                config.engine().journal().pollInterval(),
                presence));
    }

    /** Settles the journals and gives the shards away. Claims are still accepted; the next owner settles them. Idempotent. */
    public Future<Void> stopWriter() {
        return writer.stop();
    }

    /** The modes of one writer. A new mode is added here and to {@link Modes}. */
    private List<Mode> modes() {
        Pool pool = stores.pools.owner();
        Duration heldLong = Draws.heldLong(config.domain().claim().settleTimeout());
        return List.of(packets.mode(loop, pool), draws.mode(loop, pool, heldLong), campaigns.mode(pool));
    }

    /** Exchanges messages with the other servers of these stores through Redis, while Redis answers. Once. */
    public Future<Void> join() {
        return join(ServerLine.overRedis(
                vertx,
                () -> stores.openRedis("line"),
                () -> Installation.lineKeys(stores.pools.owner()),
                namespace(),
                metrics));
    }

    /** Exchanges messages over another line, which the engine then closes. Once. */
    public Future<Void> join(ServerLine line) {
        return messages.start(
                () -> shards.messages(loop, line, List.of(packets.wire(), draws.wire()), feeds.audience(), metrics));
    }

    /** Ends {@link #join}. */
    public Future<Void> leave() {
        return messages.stop();
    }

    /** Completes when {@link #isReady}; fails after {@code wait}. */
    public Future<Void> ready(Duration wait) {
        Promise<Void> ready = Promise.promise();
        pollReady(System.nanoTime() + wait.toNanos(), ready);
        return ready.future();
    }

    private void pollReady(long deadlineNanos, Promise<Void> ready) {
        if (isReady()) {
            ready.complete();
        } else if (System.nanoTime() > deadlineNanos) {
            ready.fail("the shards' owner is not ready; see the log for what keeps it");
        } else {
            shards.refresh()
                    .onComplete(looked -> vertx.setTimer(READY_POLL_MILLIS, later -> pollReady(deadlineNanos, ready)));
        }
    }

    /** Whether every shard takes claims, except those whose recovery keeps failing; stays true. */
    public boolean isReady() {
        return shards.isReady();
    }

    /** Whether Postgres answers and takes writes, whatever the load of requests. */
    public Future<Boolean> isPostgresReachable() {
        return stores.isPostgresReachable();
    }

    /** Whether Redis, or one node of a cluster, executes a command. */
    public Future<Boolean> isRedisReachable() {
        return stores.isRedisReachable();
    }

    /** Delivers to webhooks. Deploy one. */
    Deployable courier() {
        return outbox.courier(stores.pools.postgres(), metrics);
    }

    /** Measures every shard for the operator. Deploy one. */
    Deployable shardWatch() {
        return shards.watch(loop, () -> stores.openRedis("watch"), new ShardOwners(stores.pools.owner()), metrics);
    }

    /** This installation's name in every key of Redis. */
    public String namespace() {
        return shards.namespace();
    }

    /** The connections of users' requests. */
    public Pool pool() {
        return stores.pools.requests();
    }

    /** A verticle that runs or does not. A start and a stop wait for the one before. Not for several threads at once. */
    private static final class Deployment {
        private final Vertx vertx;
        private Future<@Nullable String> running = Future.succeededFuture();

        Deployment(Vertx vertx) {
            this.vertx = vertx;
        }

        Future<Void> start(Supplier<Deployable> verticle) {
            running = running.otherwiseEmpty()
                    .compose(id -> id != null ? Future.succeededFuture(id) : vertx.deployVerticle(verticle.get()));
            return running.mapEmpty();
        }

        Future<Void> stop() {
            running = running.otherwiseEmpty()
                    .compose(id -> id == null
                            ? Future.succeededFuture()
                            : vertx.undeploy(id).mapEmpty());
            return running.mapEmpty();
        }
    }
}
