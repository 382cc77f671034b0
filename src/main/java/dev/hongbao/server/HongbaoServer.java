package dev.hongbao.server;

import dev.hongbao.access.TokenTrust;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.doctor.Checks;
import dev.hongbao.engine.Presence;
import dev.hongbao.ledger.Turnover;
import dev.hongbao.packet.Packets;
import dev.hongbao.page.DemoLogin;
import dev.hongbao.server.Readiness.HttpLoops;
import dev.hongbao.store.Stores;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.values.DrawId;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.micrometer.MicrometerMetricsFactory;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The whole server: {@link #start} and {@link #close} are its life. Blocking; not for an event loop. */
public final class HongbaoServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HongbaoServer.class);

    /** A store that was killed under load reads its log back first. */
    static final Duration START_LIMIT = Duration.ofMinutes(11);

    /** A minute less, so that the fault names the store that the start waits for. */
    private static final Duration STORES_LIMIT = START_LIMIT.minusMinutes(1);

    /** Of each step. */
    private static final Duration STOP_LIMIT = Duration.ofSeconds(8);

    private final AtomicInteger port = new AtomicInteger();
    private final AtomicInteger managementPort = new AtomicInteger();
    private volatile boolean stopping;

    // For close(): empty until the start has come so far
    private @Nullable TokenTrust trust;
    private @Nullable Stores stores;
    private @Nullable Vertx vertx;
    private @Nullable Engine engine;
    private Future<?> wheel = Future.succeededFuture();
    private Duration drain = Duration.ZERO;
    private boolean stopped;

    /** The ids of verticles, the latest first. */
    private final Deque<String> deployed = new ArrayDeque<>();

    private HongbaoServer() {}

    /**
     * Starts everything and returns once requests are served.
     *
     * @throws Exception with a message for the operator if something cannot start; then nothing is left running
     */
    public static HongbaoServer start(HongbaoConfig config) throws Exception {
        return start(config, Clock.systemUTC());
    }

    /** Starts with another clock of this machine, which decides the validity of tokens, but nothing about money. */
    public static HongbaoServer start(HongbaoConfig config, Clock clock) throws Exception {
        HongbaoServer server = new HongbaoServer();
        try {
            server.startAll(config, clock);
            return server;
        } catch (Exception | LinkageError fault) {
            server.close();
            throw fault;
        }
    }

    private void startAll(HongbaoConfig config, Clock clock) throws Exception {
        Stores.require(config);
        Checks.enforce(Checks.ofMachine(config));
        TokenTrust trust = TokenTrust.open(config, Checks::requireSecret, clock);
        this.trust = trust;

        // The stores, the APIs and Vert.x do not need each other: each starts on a thread of its own.
        FutureTask<Stores> opening = inParallel("stores", () -> Stores.open(config));
        PrometheusMeterRegistry metrics = Meters.registry();
        FutureTask<Apis> loading = inParallel("apis", () -> new Apis(config, trust.tokens(), metrics, clock));
        Vertx vertx;
        StoreAddresses addresses;
        try {
            vertx = vertx(metrics);
            this.vertx = vertx;
        } finally {
            stores = await(opening);
            addresses = stores.addresses();
        }
        int connections = Pools.connections(config);
        Checks.enforce(await(Checks.ofStores(vertx, addresses, config, connections, STORES_LIMIT)));

        // The engine, until it takes claims
        String database = addresses.app().database();
        // Beside a server with other keys, this one owns no shard.
        Presence presence = new Presence(
                trust.fingerprints(database),
                servers -> Checks.enforce(Checks.ofKeys(config.web().token(), trust.fingerprints(database), servers)));
        Engine engine = await(Engine.start(vertx, addresses, config, metrics, System::nanoTime, presence));
        this.engine = engine;
        trust.tokens().tellNames(engine.profiles::seen);
        trust.tokens().refuse(engine.restrictions::revokes);
        await(engine.join());
        trust.follow(presence, database);
        Future<Void> ready = engine.ready(START_LIMIT);

        // The APIs are made while the shards recover, and listen when the shards take claims.
        Apis apis = await(loading);
        int eventLoops = config.web().http().effectiveEventLoops();
        HttpLoops loops = new HttpLoops(eventLoops);
        IntConsumer listening = bound -> {
            port.set(bound);
            loops.serving(vertx.getOrCreateContext());
        };
        Future<String> http = vertx.deployVerticle(
                () -> apis.http(vertx, engine, ready, listening), new DeploymentOptions().setInstances(eventLoops));
        await(ready);
        int recovered = engine.shards.recoveredAtStart();
        if (recovered > 0 && !config.engine().redis().isEmbedded()) {
            // An embedded Redis stops with the server, and always loses its scripts.
            LOG.info("recovered {} shards from Postgres: Redis and Postgres did not agree on them", recovered);
        }
        Packets.countOpen(vertx, engine.pool(), metrics);
        new Turnover(engine.pool(), metrics).watch(vertx);

        deploy(vertx, engine::shardWatch);
        deploy(vertx, engine::courier);
        deployed.push(await(http));
        deploy(
                vertx,
                () -> apis.management(
                        vertx, engine, Readiness.checks(() -> !stopping, engine, loops), managementPort::set));
        wheel = apis.demo().isOpen() ? makeWheel(apis.demo(), vertx, engine) : Future.succeededFuture();
        vertx.executeBlocking(() -> {
            Meters.bindProcess(metrics);
            return null;
        });
        drain = config.web().http().drainDelay();
    }

    /** Visitors wait for the wheel, the start does not. */
    private static Future<?> makeWheel(DemoLogin demo, Vertx vertx, Engine engine) {
        Promise<DrawId> made = Promise.promise();
        vertx.runOnContext(now -> {
            Future<Services> services = engine.services();
            demo.makeWheel(services.map(each -> each.draws), engine.wallets, engine.clock.instant())
                    .eventually(() -> services.compose(Services::close))
                    .onComplete(made);
        });
        return made.future();
    }

    /**
     * Stops in the reverse order, also after a failed start. First the server is not ready for {@code http.drain-delay}. The APIs refuse new
     * calls and answer those in flight, the engine settles the journals, the connections close, and embedded stores stop. Returns when all has
     * stopped, to every caller. Idempotent.
     */
    @Override
    public synchronized void close() {
        if (stopped) {
            return;
        }
        stopped = true;
        drain();
        stop("the wheel", wheel::otherwiseEmpty);
        Vertx running = vertx;
        if (running != null) {
            for (String verticle : deployed) {
                stop("a verticle", () -> running.undeploy(verticle));
            }
        }
        if (engine != null) {
            stop("the journal", engine::close);
            stop("the line to other servers", engine::leave);
        }
        if (running != null) {
            stop("Vert.x", running::close);
        }
        if (trust != null) {
            trust.close();
        }
        if (stores != null) {
            stores.close();
        }
    }

    /** Still serves, but is not ready, until a load balancer has noticed. */
    private void drain() {
        stopping = true;
        try {
            Thread.sleep(drain.toMillis());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Deploys a verticle and returns once it runs. */
    private void deploy(Vertx vertx, Supplier<Deployable> verticle) throws Exception {
        deployed.push(await(vertx.deployVerticle(verticle, new DeploymentOptions())));
    }

    /** Waits for a stop, {@link #STOP_LIMIT} at most. @param what for the log */
    private static void stop(String what, Supplier<Future<?>> stop) {
        try {
            stop.get().toCompletionStage().toCompletableFuture().get(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException fault) {
            LOG.warn("{} did not stop cleanly: {}", what, fault.toString());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static <T> FutureTask<T> inParallel(String what, Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        new Thread(task, "hongbao-" + what).start();
        return task;
    }

    /** The result, within {@link #START_LIMIT}. */
    private static <T> T await(Future<T> future) throws Exception {
        return await(future.toCompletionStage().toCompletableFuture());
    }

    private static <T> T await(java.util.concurrent.Future<T> future) throws Exception {
        try {
            return future.get(START_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException fault) {
            throw fault.getCause() instanceof Exception cause ? cause : fault;
        } catch (TimeoutException late) {
            throw new TimeoutException("not started after " + START_LIMIT.toMinutes() + " minutes; see the log");
        }
    }

    /** Without Netty's flight recorder events, which slow every start, unless the operator sets the property. */
    private static Vertx vertx(PrometheusMeterRegistry metrics) {
        System.getProperties().putIfAbsent("io.netty.jfr.enabled", "false");
        return Vertx.builder()
                .with(new VertxOptions()
                        .setPreferNativeTransport(true)
                        .setMetricsOptions(Meters.ofVertx())
                        .setWarningExceptionTime(1))
                .withMetrics(new MicrometerMetricsFactory(metrics))
                .build();
    }

    /** A benchmark in this process starts and stops its writer. */
    public Engine engine() {
        return Objects.requireNonNull(engine);
    }

    public int port() {
        return port.get();
    }

    public int managementPort() {
        return managementPort.get();
    }
}
