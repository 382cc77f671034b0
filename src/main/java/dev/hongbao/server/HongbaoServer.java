package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.domain.books.Turnover;
import dev.hongbao.domain.packet.OpenPackets;
import dev.hongbao.engine.writer.Presence;
import dev.hongbao.web.http.ConsoleFace;
import dev.hongbao.web.http.HttpSettings;
import dev.hongbao.web.http.HttpVerticle;
import dev.hongbao.web.management.HealthChecks;
import dev.hongbao.web.management.HttpLoops;
import dev.hongbao.web.management.ManagementVerticle;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.micrometer.MicrometerMetricsFactory;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The whole server. What is started is stopped in reverse: readiness ends, and after {@code http.drain-delay} the faces refuse new work and finish what is in flight, the journal
 * is settled, clients close, the children stop. Blocking; not for an event loop.
 */
public final class HongbaoServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HongbaoServer.class);

    /** Ready asks a store no more often: a balancer with many nodes is no load, and notices nothing. */
    private static final Duration STORE_ASKED_EVERY = Duration.ofSeconds(1);

    private static final Duration CHECK_LIMIT = Duration.ofSeconds(2);

    private final Started started = new Started();
    private final AtomicInteger port = new AtomicInteger();
    private final AtomicInteger managementPort = new AtomicInteger();
    private volatile boolean stopping;
    private @Nullable Engine engine;

    private HongbaoServer() {}

    /**
     * Starts everything and returns once requests are served.
     *
     * @throws Exception with a message for the operator when something cannot start; then nothing is left running
     */
    public static HongbaoServer start(HongbaoConfig config) throws Exception {
        return start(config, Clock.systemUTC());
    }

    /** The same by another clock of this machine: it says which tokens are valid, and nothing that is about money. */
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
        StartChecks.enforce(MachineChecks.beforeStart(config));
        TokenTrust trust = TokenTrust.open(config, clock);
        started.add(trust::close);
        // The stores, the faces and Vert.x do not need each other: each is made on a thread of its own.
        FutureTask<Stores> opening = Started.inParallel("stores", () -> Stores.open(config));
        PrometheusMeterRegistry metrics = Meters.registry();
        FutureTask<Faces> loading =
                Started.inParallel("faces", () -> Faces.load(config, trust.tokens(), metrics, clock));
        Vertx vertx;
        StoreAddresses stores;
        try {
            vertx = vertx(metrics);
            started.add("Vert.x", vertx::close);
        } finally {
            Stores opened = Started.await(opening);
            started.addAsLast(opened::close);
            stores = opened.addresses();
        }
        StartChecks.enforce(Started.await(StartChecks.ofStores(vertx, stores, config, StoreWait.LIMIT)));
        Engine ready = startEngine(vertx, stores, config, metrics, trust);
        engine = ready;
        startFaces(vertx, config, metrics, ready, Started.await(loading));
        vertx.executeBlocking(() -> {
            Meters.bindProcess(metrics);
            return null;
        });
        started.add(() -> drain(config.web().http().timeouts().drain()));
    }

    /** Returns once claims are taken. */
    private Engine startEngine(
            Vertx vertx, StoreAddresses stores, HongbaoConfig config, PrometheusMeterRegistry metrics, TokenTrust trust)
            throws Exception {
        String database = stores.app().database();
        Presence presence = trust.presence(database);
        Engine running = Started.await(Engine.start(vertx, stores, config, metrics, System::nanoTime, presence));
        trust.tokens().tellNames(running.profiles()::seen);
        trust.tokens().refuse(running.accounting().revocations()::includes);
        started.add("the line to other servers", running::leave); // after the shards are handed over
        started.add("the journal", running::close);
        Started.await(running.join());
        trust.follow(presence, database);
        Started.await(running.ready(Started.START_LIMIT));
        if (running.recoveredAtStart() > 0 && !config.engine().redis().isEmbedded()) {
            // A Redis that is a child was stopped with the server, and loses its scripts by that.
            LOG.info("recovered {} shards, of which Redis had lost scripts or data", running.recoveredAtStart());
        }
        OpenPackets.watch(vertx, running.pool(), metrics);
        new Turnover(running.pool(), metrics).watch(vertx);
        return running;
    }

    private void startFaces(
            Vertx vertx, HongbaoConfig config, PrometheusMeterRegistry metrics, Engine beneath, Faces faces)
            throws Exception {
        Supplier<Future<?>> makeWheel = WheelOffer.to(faces.http().demo(), vertx, beneath);
        HttpSettings http = FaceSettings.http(config);
        int eventLoops = config.web().http().effectiveEventLoops();
        HttpLoops loops = new HttpLoops(eventLoops);
        Supplier<Future<HttpVerticle.Opened>> open = () -> faces.open(vertx, beneath);
        IntConsumer listening = bound -> {
            port.set(bound);
            loops.serving(vertx.getOrCreateContext());
        };
        QueueFill.watch(metrics, config, faces.mostConnections());
        started.deploy(vertx, 1, beneath::shardWatch);
        started.deploy(vertx, 1, beneath::courier);
        started.deploy(vertx, eventLoops, () -> new HttpVerticle(http, faces.http(), open, listening));
        started.deploy(
                vertx,
                1,
                () -> new ManagementVerticle(
                        config.web().management(),
                        new HealthChecks(readiness(beneath, loops), CHECK_LIMIT),
                        metrics,
                        managementPort::set,
                        () -> ConsoleFace.open(vertx, http, faces.http(), open, beneath.console(), metrics)));
        Future<?> wheel = makeWheel.get();
        started.add("the wheel", wheel::otherwiseEmpty);
    }

    private Map<String, Supplier<Future<Boolean>>> readiness(Engine beneath, HttpLoops loops) {
        Map<String, Supplier<Future<Boolean>>> checks = new LinkedHashMap<>();
        checks.put(Check.STAYING.ready, () -> Future.succeededFuture(!stopping));
        checks.put(Check.POSTGRES.ready, remembered(beneath::isPostgresReachable));
        checks.put(Check.REDIS.ready, remembered(beneath::isRedisReachable));
        checks.put(Check.SHARDS.ready, () -> Future.succeededFuture(beneath.isReady()));
        checks.putAll(loops.checks());
        return checks;
    }

    private static Supplier<Future<Boolean>> remembered(Supplier<Future<Boolean>> ofStore) {
        return HealthChecks.remembered(ofStore, STORE_ASKED_EVERY, System::nanoTime);
    }

    /** Still serves, and says that it is not ready, until a load balancer has noticed. */
    private void drain(Duration delay) {
        stopping = true;
        try {
            Thread.sleep(delay.toMillis());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Without Netty's flight recorder events, which every start would instrument, unless the operator asks for them. Of Vert.x' own
     * metrics only the pools': the rest costs on every request, and ours say it better.
     */
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

    /** What is beneath the faces: a benchmark in this process tells it when to settle. */
    public Engine engine() {
        return Objects.requireNonNull(engine);
    }

    /** The API's port in use. */
    public int port() {
        return port.get();
    }

    /** The management port in use. */
    public int managementPort() {
        return managementPort.get();
    }

    /** Stops in order; returns when everything has stopped, also for who comes while it is being stopped. Idempotent. */
    @Override
    public void close() {
        started.close();
    }
}
