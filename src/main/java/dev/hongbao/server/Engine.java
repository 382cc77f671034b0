package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.domain.claim.ClaimFacts;
import dev.hongbao.domain.feed.FeedHub;
import dev.hongbao.domain.ledger.Wallets;
import dev.hongbao.domain.profile.Profiles;
import dev.hongbao.engine.admission.AdmissionControl;
import dev.hongbao.engine.cluster.RedisLine;
import dev.hongbao.engine.cluster.ServerLine;
import dev.hongbao.engine.cluster.ServerMessages;
import dev.hongbao.engine.journal.JournalEntry;
import dev.hongbao.engine.postgres.StoreClock;
import dev.hongbao.engine.shard.Installation;
import dev.hongbao.engine.shard.LocalCodec;
import dev.hongbao.engine.shard.ShardOwners;
import dev.hongbao.engine.watch.ShardWatch;
import dev.hongbao.engine.writer.Presence;
import dev.hongbao.web.webhook.WebhookVerticle;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Everything but the faces: starts the parts in their order, gives them to the faces, and stops them. Thread-safe, except
 * that {@link #loopServices} belongs on the event loop that will use them.
 */
public final class Engine {
    private static final long READY_POLL_MILLIS = 10;

    private final Foundation base;
    private final Parts parts;
    private final Outbox outbox;
    private final AdmissionControl admission;
    private long admissionTimer;
    private final Loops loops;
    private final Writer writer;
    private final Deployment messages;
    private final Console console;
    private final Retention retention;

    private Engine(Foundation base, Presence presence) {
        this.base = base;
        this.parts = Parts.of(base);
        this.outbox = new Outbox(base.vertx(), base.pools(), base.shards().count(), base.config(), base.clock());
        this.admission = new AdmissionControl(
                base.shards().count(),
                base.config().domain().claim().settleTimeout(),
                base.config().domain().claim().maxWaiting(),
                base.metrics(),
                System::nanoTime);
        this.loops = new Loops(base, parts, admission);
        this.writer = new Writer(base, parts, presence);
        this.messages = new Deployment(base.vertx());
        this.console = new Console(base.vertx(), base.stores(), base.pools(), base.shardStore(), base.clock());
        this.retention = new Retention(base.pools().lengthy(), base.config());
    }

    /** Starts on stores that answer, and brings their schema to this version's. Once a Vert.x instance. */
    public static Future<Engine> start(
            Vertx vertx, StoreAddresses stores, HongbaoConfig config, MeterRegistry metrics) {
        return start(vertx, stores, config, metrics, System::nanoTime);
    }

    /**
     * The same with another monotonic clock between Postgres' answers about the time.
     *
     * @param nanoTime as {@link System#nanoTime}
     */
    public static Future<Engine> start(
            Vertx vertx, StoreAddresses stores, HongbaoConfig config, MeterRegistry metrics, LongSupplier nanoTime) {
        return start(vertx, stores, config, metrics, nanoTime, Presence.none());
    }

    /**
     * The same.
     *
     * @param presence what this server shows to the others of its database before it owns a shard
     */
    static Future<Engine> start(
            Vertx vertx,
            StoreAddresses stores,
            HongbaoConfig config,
            MeterRegistry metrics,
            LongSupplier nanoTime,
            Presence presence) {
        LocalCodec.register(vertx.eventBus(), JournalEntry.class);
        return Foundation.lay(vertx, stores, config, metrics, nanoTime)
                .map(base -> new Engine(base, presence))
                .compose(engine -> engine.startParts().map(engine))
                .onSuccess(engine -> {
                    Upkeep.begin(engine.base, engine.profiles(), engine.console);
                    engine.retention.start(vertx);
                });
    }

    private Future<Void> startParts() {
        Vertx vertx = base.vertx();
        HongbaoConfig config = base.config();
        return base.clock()
                .follow(vertx)
                .compose(read -> parts.feeds().start())
                .compose(started -> accounting().start(vertx, config))
                .compose(started -> parts.packets()
                        .startSending(
                                accounting().assets(),
                                () -> base.openRedis("sends"),
                                config.domain().claim().settleTimeout(),
                                config.domain().packet()))
                .compose(started -> base.quarantine().start())
                .compose(started -> outbox.start())
                .compose(started -> {
                    admissionTimer = vertx.setPeriodic(AdmissionControl.TICK.toMillis(), tick -> admission.tick());
                    return startWriter();
                });
    }

    /** Opens the services of the event loop it is called on. */
    public Future<LoopServices> loopServices() {
        return loops.open();
    }

    public Wallets wallets() {
        return accounting().wallets();
    }

    /** Whose money is where, who may move it, and who did. */
    public Accounting accounting() {
        return parts.accounting();
    }

    /** How users are shown. */
    public Profiles profiles() {
        return parts.profiles();
    }

    /** What the host application is told. */
    public Outbox outbox() {
        return outbox;
    }

    /** What is kept for a time only. */
    public Retention retention() {
        return retention;
    }

    public Pool pool() {
        return base.pools().requests();
    }

    /** Postgres' clock, as far as this server knows it. */
    public StoreClock clock() {
        return base.clock();
    }

    /** Completes when {@link #isReady}; fails when that takes longer than {@code wait}. */
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
            base.shards()
                    .refresh()
                    .onComplete(looked ->
                            base.vertx().setTimer(READY_POLL_MILLIS, later -> pollReady(deadlineNanos, ready)));
        }
    }

    /** Whether Postgres answers now and takes writes, however busy requests are. */
    public Future<Boolean> isPostgresReachable() {
        return base.isPostgresReachable();
    }

    /** Whether a command reaches Redis now, or one node of a cluster, on a connection that nothing else uses. */
    public Future<Boolean> isRedisReachable() {
        return base.isRedisReachable();
    }

    /** Whether claims are taken on every shard, but for those whose recovery keeps failing; stays true. */
    public boolean isReady() {
        return base.shards().isReady();
    }

    /** How many shards the start wrote anew into Redis, which had lost them. */
    int recoveredAtStart() {
        return base.shards().recoveredAtStart();
    }

    /** What every key of this installation in Redis names. */
    public String namespace() {
        return base.shards().namespace();
    }

    /** Tells other servers of these stores what they wait for, and hears it of them, as far as the stores answer. Once. */
    public Future<Void> join() {
        return join(line());
    }

    /** A line over Redis that nobody listens to yet. */
    RedisLine line() {
        return new RedisLine(
                base.vertx(),
                () -> base.openRedis("line"),
                () -> Installation.lineKeys(base.pools().owner()),
                namespace(),
                base.metrics());
    }

    /** The same over a line that belongs to the engine from now on. Once. */
    public Future<Void> join(ServerLine line) {
        return messages.start(() -> new ServerMessages(
                line,
                base.shards(),
                List.of(
                        new ClaimFacts(parts.packets().settlements()),
                        parts.draws().facts()),
                parts.feeds().audience(),
                FeedHub.NUDGE,
                FeedHub.NUDGED,
                base.metrics()));
    }

    /** What operators ask beside the API. */
    Console console() {
        return console;
    }

    /** What tells the webhooks, to be deployed once. */
    WebhookVerticle courier() {
        return outbox.courier(base.pools().postgres(), base.config().web().webhooks(), base.metrics(), base.clock());
    }

    /** What looks at every shard for the operator, to be deployed once. */
    ShardWatch shardWatch() {
        return new ShardWatch(
                base.stores().redisUrl(),
                base.config().engine().redis().commandTimeout(),
                base.shards(),
                new ShardOwners(base.pools().owner()),
                base.metrics());
    }

    /** Ends {@link #join}. */
    public Future<Void> leave() {
        return messages.stop();
    }

    /** Settles from now on, as far as this server owns shards; it does so from the start. */
    public Future<Void> startWriter() {
        return writer.start();
    }

    /** Settles what is in the journals and gives the shards away: claims are accepted, and settled by whoever owns them next. */
    public Future<Void> stopWriter() {
        return writer.stop();
    }

    /** Settles what is in the journals, then closes; the faces are to be stopped before. */
    public Future<Void> close() {
        base.vertx().cancelTimer(admissionTimer);
        outbox.stop();
        retention.stop(base.vertx());
        return accounting()
                .stop(base.vertx())
                .eventually(this::stopWriter)
                .eventually(parts.feeds()::close)
                .eventually(parts.packets()::stopSending)
                .eventually(base::close);
    }
}
