package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.IdempotencyConfig.References;
import dev.hongbao.domain.claim.ClaimFacts;
import dev.hongbao.domain.claim.ClaimSettings;
import dev.hongbao.domain.draw.DrawService;
import dev.hongbao.domain.feed.FeedHub;
import dev.hongbao.domain.feed.FeedService;
import dev.hongbao.domain.feed.Feeds;
import dev.hongbao.domain.fulfilment.WinStore;
import dev.hongbao.domain.fulfilment.Wins;
import dev.hongbao.domain.ledger.Commands;
import dev.hongbao.domain.ledger.Idempotency;
import dev.hongbao.domain.ledger.Wallets;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.domain.play.PlaySettings;
import dev.hongbao.domain.profile.Profiles;
import dev.hongbao.engine.cluster.ServerLine;
import dev.hongbao.engine.cluster.ServerNews;
import dev.hongbao.engine.journal.KeyLoader;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.postgres.Migrations;
import dev.hongbao.engine.postgres.StoreClock;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Installation;
import dev.hongbao.engine.shard.ShardStore;
import dev.hongbao.engine.shard.Shards;
import dev.hongbao.engine.writer.JournalMetrics;
import dev.hongbao.engine.writer.PersistenceVerticle;
import dev.hongbao.engine.writer.Presence;
import dev.hongbao.web.api.EventText;
import dev.hongbao.web.http.HostServices;
import dev.hongbao.web.http.Services;
import dev.hongbao.web.webhook.WebhookVerticle;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Everything but the faces: the pool, what is cached, the persistence verticle, and the services that the faces call. Safe on
 * any thread, except that {@link #loopServices} belongs on the event loop that will use them.
 */
public final class Engine {
    private static final long READY_POLL_MILLIS = 10;
    private static final Duration PURGE_EVERY = Duration.ofHours(1);
    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

    /** Soon enough for who comes in to be shown under the right name. */
    private static final Duration TAKE_NAMES_EVERY = Duration.ofMillis(200);

    /** Items one settlement takes: enough to make the commit cheap, few enough to answer the first of them soon. */
    private static final int SETTLEMENT_ITEMS = 2048;

    private final Vertx vertx;
    private final StoreAddresses stores;
    private final HongbaoConfig config;
    private final Pools pools;
    private final StoreClock clock;
    private final Shards shards;
    private final Quarantine quarantine;
    private final Packets packets;
    private final Feeds feeds;
    private final Draws draws;
    private final Campaigns campaigns;
    private final Accounting accounting;
    private final Profiles profiles;
    private final News newsForHost;
    private final ClaimAdmission admission;
    private final Supplier<PersistenceVerticle> newWriter;
    private final MeterRegistry metrics;
    private final Deployment writer;
    private final Deployment news;
    private final Console console;

    private Engine(
            Vertx vertx,
            StoreAddresses stores,
            HongbaoConfig config,
            MeterRegistry metrics,
            StoreClock clock,
            Pools pools,
            ShardStore shardStore,
            int shardCount,
            Presence presence) {
        this.vertx = vertx;
        this.stores = stores;
        this.config = config;
        this.pools = pools;
        this.clock = clock;
        this.shards = new Shards(shardStore, shardCount, Modes.scripts());
        this.quarantine = new Quarantine(vertx, pools.owner(), metrics);
        this.packets = new Packets(
                vertx,
                pools.requests(),
                pools.owner(),
                shards,
                quarantine,
                config.web().limits().wrongPasscodes().perPacket(),
                metrics,
                clock);
        this.draws = new Draws(
                vertx,
                pools.requests(),
                pools.owner(),
                shards,
                quarantine,
                config.domain().claim().maxWaiting(),
                metrics,
                clock);
        this.campaigns = new Campaigns(pools.requests(), pools.owner(), shards, clock);
        this.profiles = new Profiles(pools.requests());
        this.feeds = new Feeds(
                vertx,
                new Feeds.Pools(pools.requests(), pools.owner(), pools.lengthy()),
                shards,
                new Feeds.Packets(packets.catalog(), packets.ended()),
                new EventText(packets.catalog(), packets.ended(), draws.catalog(), campaigns.rainCatalog(), profiles),
                new Feeds.Pace(
                        config.domain().feed().pollInterval(),
                        config.domain().feed().retention()));
        this.accounting = new Accounting(pools, shards, metrics);
        this.newsForHost = new News(vertx, pools, shardCount, config);
        this.admission = new ClaimAdmission(vertx, config, shardCount, metrics);
        this.metrics = metrics;
        this.writer = new Deployment(vertx);
        this.news = new Deployment(vertx);
        this.console = new Console(vertx, stores, pools, shardStore, clock);
        JournalMetrics journal = new JournalMetrics(metrics, shards);
        this.newWriter = () -> new PersistenceVerticle(wiring(journal, shardStore, presence));
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
        Modes.register(vertx);
        Pools pools = Pools.open(vertx, stores, config);
        StoreClock clock = new StoreClock(pools.owner(), nanoTime);
        return Migrations.run(vertx, pools.owner(), stores.owner(), stores.app())
                .compose(migrated -> Installation.establish(pools.owner(), stores.namespace()))
                .compose(installation -> Commands.haveUniqueReferences(
                                pools.owner(), config.domain().idempotency().references() == References.UNIQUE)
                        .map(installation))
                .map(installation -> new ShardStore(pools.owner(), installation))
                .compose(store -> store.establish(config.engine().journal().shards())
                        .compose(count -> claim(vertx, stores, config, store.installation(), count))
                        .map(count -> new Engine(vertx, stores, config, metrics, clock, pools, store, count, presence)))
                .compose(engine -> clock.follow(vertx)
                        .compose(read -> engine.feeds.start())
                        .compose(started -> engine.accounting.start(vertx, config))
                        .compose(started -> engine.packets.startSending(
                                engine.accounting.assets(),
                                () -> engine.openRedis("sends"),
                                config.domain().claim().settleTimeout(),
                                config.domain().packet()))
                        .compose(started -> engine.quarantine.start())
                        .compose(started -> engine.newsForHost.start())
                        .compose(started -> engine.admission.start(config, stores, engine.namespace()))
                        .compose(started -> engine.startWriter())
                        .map(engine))
                .onSuccess(Engine::purgeRegularly)
                .onSuccess(Engine::lookAtGenerations)
                .onSuccess(Engine::takeNames);
    }

    /** Fails when the namespace in Redis is another installation's. */
    private static Future<Integer> claim(
            Vertx vertx, StoreAddresses stores, HongbaoConfig config, Installation installation, int shards) {
        Promise<Integer> done = Promise.promise();
        vertx.runOnContext(now -> RedisLinks.open(
                        vertx, stores.redisUrl(), config.engine().redis().commandTimeout(), "installation")
                .compose(redis -> installation.claimAll(redis, shards).eventually(redis::close))
                .map(shards)
                .onComplete(done));
        return done.future();
    }

    private PersistenceVerticle.Wiring wiring(JournalMetrics metrics, ShardStore shardStore, Presence presence) {
        return new PersistenceVerticle.Wiring(
                new PersistenceVerticle.Stores(
                        pools.postgres(),
                        pools.lengthy(),
                        stores.redisUrl(),
                        config.engine().redis().commandTimeout()),
                new PersistenceVerticle.Owned(shardStore, shards, quarantine, presence),
                new PersistenceVerticle.Work(
                        List.of(packets.mode(), draws.mode(), campaigns.mode()), feeds.ownerTasks(), feeds),
                new PersistenceVerticle.Pace(config.engine().journal().pollInterval(), SETTLEMENT_ITEMS),
                metrics);
    }

    /** Opens the services of the event loop it is called on. */
    public Future<LoopServices> loopServices() {
        return openRedis("claims").map(redis -> {
            KeyLoader loading =
                    new KeyLoader(vertx, redis, shards, config.domain().claim().settleTimeout());
            PacketService packetService = packets.packets();
            DrawService drawService = draws.draws(loading);
            return new LoopServices(
                    redis,
                    packets.claims(redis, accounting.restrictions(), admission.control(), claimSettings()),
                    packetService,
                    new FeedService(
                            vertx, feeds.following(), feeds.reader(), packetService, campaigns.rainCatalog(), profiles),
                    new Services.Hosted(
                            drawService,
                            draws.plays(redis, admission.control(), accounting.restrictions(), playSettings()),
                            new Wins(drawService, new WinStore(pools.requests())),
                            campaigns.campaigns(loading, packetService),
                            campaigns.rains(vertx, loading, packetService, accounting.restrictions())),
                    new HostServices.Support(
                            packets.files(),
                            packets.closing(redis, config.domain().claim().settleTimeout()),
                            draws.files(),
                            accounting.deposits()));
        });
    }

    /** On the current event loop. @param name for the log */
    private Future<RedisLinks> openRedis(String name) {
        return RedisLinks.open(vertx, stores.redisUrl(), config.engine().redis().commandTimeout(), name);
    }

    private ClaimSettings claimSettings() {
        int perLoop = Math.max(
                1, config.domain().claim().maxWaiting() / config.web().http().effectiveEventLoops());
        return new ClaimSettings(
                config.domain().claim().batchSize(),
                perLoop,
                perLoop,
                config.engine().journal().maxEntries(),
                config.domain().claim().settleTimeout());
    }

    private PlaySettings playSettings() {
        ClaimSettings claims = claimSettings();
        return new PlaySettings(
                claims.batchSize(),
                claims.maxQueued(),
                claims.maxUnsettled(),
                claims.maxJournalEntries(),
                claims.timeout());
    }

    public Wallets wallets() {
        return accounting.wallets();
    }

    /** Whose money is where, who may move it, and who did. */
    public Accounting accounting() {
        return accounting;
    }

    /** How users are shown. */
    public Profiles profiles() {
        return profiles;
    }

    /** What the host application is told. */
    public News newsForHost() {
        return newsForHost;
    }

    public Pool pool() {
        return pools.requests();
    }

    /** Postgres' clock, as far as this server knows it. */
    public StoreClock clock() {
        return clock;
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
            shards.refresh()
                    .onComplete(looked -> vertx.setTimer(READY_POLL_MILLIS, later -> pollReady(deadlineNanos, ready)));
        }
    }

    /** Whether a command reaches Redis now, or one node of a cluster, on a connection of its own. */
    public Future<Boolean> isRedisReachable() {
        return openRedis("health")
                .compose(redis -> Future.any(redis.servers().stream()
                                .map(server -> server.send(Request.cmd(Command.PING)))
                                .toList())
                        .map(true)
                        .eventually(redis::close));
    }

    /** Whether claims are taken on every shard, but for those whose recovery keeps failing; stays true. */
    public boolean isReady() {
        return shards.isReady();
    }

    /** Also where nobody claims: whether a shard's owner has found that Postgres went back in time. */
    private void lookAtGenerations() {
        vertx.setPeriodic(LOOK_EVERY.toMillis(), second -> shards.refresh());
    }

    private void takeNames() {
        vertx.setPeriodic(TAKE_NAMES_EVERY.toMillis(), again -> profiles.take());
    }

    private void purgeRegularly() {
        Idempotency idempotency = new Idempotency(pools.lengthy());
        vertx.setPeriodic(
                PURGE_EVERY.toMillis(),
                hour -> idempotency.purge(config.domain().idempotency().retention()));
    }

    /** What every key of this installation in Redis names. */
    public String namespace() {
        return shards.namespace();
    }

    /** Tells other servers what they wait for, and hears it of them, over a line that belongs to the engine from now on. Once. */
    public Future<Void> join(ServerLine line) {
        return news.start(() -> new ServerNews(
                line,
                shards,
                List.of(new ClaimFacts(vertx.eventBus()), draws.facts()),
                FeedHub.NUDGE,
                FeedHub.NUDGED,
                metrics));
    }

    /** What operators ask beside the API. */
    Console console() {
        return console;
    }

    /** What tells the webhooks, to be deployed once. */
    WebhookVerticle courier() {
        return newsForHost.courier(pools.postgres(), config.web().webhooks(), metrics, clock);
    }

    /** Ends {@link #join}. */
    public Future<Void> leave() {
        return news.stop();
    }

    /** Settles from now on, as far as this server owns shards; it does so from the start. */
    public Future<Void> startWriter() {
        return writer.start(newWriter::get);
    }

    /** Settles what is in the journals and gives the shards away: claims are accepted, and settled by whoever owns them next. */
    public Future<Void> stopWriter() {
        return writer.stop();
    }

    /** Settles what is in the journals, then closes; the faces are to be stopped before. */
    public Future<Void> close() {
        newsForHost.stop();
        return accounting
                .stop(vertx)
                .eventually(this::stopWriter)
                .eventually(feeds::close)
                .eventually(packets::stopSending)
                .eventually(admission::stop)
                .eventually(pools::close);
    }
}
