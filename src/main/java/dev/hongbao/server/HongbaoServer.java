package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.packet.OpenPackets;
import dev.hongbao.engine.writer.Presence;
import dev.hongbao.web.access.Admission;
import dev.hongbao.web.access.RateLimits;
import dev.hongbao.web.access.Tokens;
import dev.hongbao.web.api.Contract;
import dev.hongbao.web.api.Frames;
import dev.hongbao.web.demo.DemoLogin;
import dev.hongbao.web.demo.DemoWheel;
import dev.hongbao.web.http.ClientAddresses;
import dev.hongbao.web.http.ConsoleFace;
import dev.hongbao.web.http.HostServices;
import dev.hongbao.web.http.HttpMetrics;
import dev.hongbao.web.http.HttpSettings;
import dev.hongbao.web.http.HttpVerticle;
import dev.hongbao.web.http.Services;
import dev.hongbao.web.management.HealthChecks;
import dev.hongbao.web.management.HttpLoops;
import dev.hongbao.web.management.ManagementVerticle;
import dev.hongbao.web.page.PageFiles;
import dev.hongbao.web.ws.SocketFace;
import dev.hongbao.web.ws.SocketGuards;
import dev.hongbao.web.ws.SocketMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.micrometer.MetricsDomain;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The whole server. What is started is stopped in reverse: readiness ends, and after {@code http.drain-delay} the faces refuse new work and finish what is in flight, the journal
 * is settled, clients close, the children stop. Blocking; not for an event loop.
 */
public final class HongbaoServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HongbaoServer.class);

    /** A store that was killed under load reads its log back first. */
    private static final Duration START_LIMIT = Duration.ofMinutes(11);

    private static final Duration STOP_LIMIT = Duration.ofSeconds(8);
    private static final Duration CHECK_LIMIT = Duration.ofSeconds(2);

    private final Deque<Runnable> stops = new ArrayDeque<>();
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
        HongbaoServer server = new HongbaoServer();
        try {
            server.startAll(config);
            return server;
        } catch (Exception | LinkageError fault) {
            server.close();
            throw fault;
        }
    }

    private void startAll(HongbaoConfig config) throws Exception {
        Clock clock = Clock.systemUTC();
        StartChecks.enforce(StartChecks.ofMachine(config));
        TokenTrust trust = TokenTrust.open(config, clock);
        stops.push(trust::close);
        // The stores, the faces and Vert.x do not need each other: each is made on a thread of its own.
        FutureTask<Stores> opening = inParallel("stores", () -> Stores.open(config));
        PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        FutureTask<Faces> making = inParallel("faces", () -> faces(config, trust.tokens(), metrics, clock));
        Vertx vertx;
        Stores stores;
        try {
            vertx = vertx(metrics);
            stops.push(() -> stop("Vert.x", vertx.close()));
        } finally {
            stores = await(opening);
            stops.addLast(stores::close);
        }
        StartChecks.enforce(await(StartChecks.ofStores(vertx, stores.addresses(), config)));
        String database = stores.addresses().app().database();
        Presence presence = trust.presence(database);
        Engine started = await(Engine.start(vertx, stores.addresses(), config, metrics, System::nanoTime, presence));
        engine = started;
        trust.tokens().tellNames(started.profiles()::seen);
        Cluster cluster = new Cluster(vertx, started, config.engine().cluster());
        stops.push(() -> stop("the cluster", cluster.close())); // after the shards are handed over
        stops.push(() -> stop("the journal", started.close()));
        cluster.join();
        trust.follow(presence, database);
        await(started.ready(START_LIMIT));
        OpenPackets.watch(vertx, started.pool(), metrics);
        Faces faces = await(making);
        Supplier<Future<?>> makeWheel = offerWheel(vertx, started, faces.http().demo());
        HttpSettings http = FaceSettings.http(config);
        int eventLoops = config.web().http().effectiveEventLoops();
        HttpLoops loops = new HttpLoops(eventLoops);
        deploy(vertx, 1, started::courier);
        IntConsumer listening = bound -> {
            port.set(bound);
            loops.serving(vertx.getOrCreateContext());
        };
        deploy(
                vertx,
                eventLoops,
                () -> new HttpVerticle(http, faces.http(), () -> open(vertx, started, faces.sockets()), listening));
        deploy(
                vertx,
                1,
                () -> new RateExchange(
                        vertx,
                        faces.http().admission().rates(),
                        stores.addresses().redisUrl(),
                        config.engine().redis().commandTimeout(),
                        started.namespace()));
        HealthChecks readiness = new HealthChecks(readiness(() -> stopping, started, loops), CHECK_LIMIT);
        deploy(
                vertx,
                1,
                () -> new ManagementVerticle(
                        config.web().management(),
                        readiness,
                        metrics,
                        managementPort::set,
                        () -> ConsoleFace.open(
                                vertx,
                                http,
                                faces.http(),
                                () -> open(vertx, started, faces.sockets()),
                                started.console(),
                                metrics)));
        Future<?> wheel = makeWheel.get();
        stops.push(() -> stop("the wheel", wheel.otherwiseEmpty()));
        vertx.executeBlocking(() -> {
            new JvmMemoryMetrics().bindTo(metrics);
            new ProcessorMetrics().bindTo(metrics);
            return null;
        });
        stops.push(() -> drain(config.web().http().timeouts().drain()));
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

    private static <T> FutureTask<T> inParallel(String what, Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        new Thread(task, "hongbao-" + what).start();
        return task;
    }

    /**
     * Visitors wait for the wheel, the start does not. Without one the demo is smaller, and the server is none the worse.
     *
     * @return makes it; what it returns ends when it is made, and a stop waits for that
     */
    private static Supplier<Future<?>> offerWheel(Vertx vertx, Engine engine, DemoLogin demo) {
        if (!demo.isOpen()) {
            return Future::succeededFuture;
        }
        Promise<DrawId> wheel = Promise.promise();
        demo.offer(wheel.future().onFailure(fault -> LOG.warn("the demo is without its wheel: {}", fault.toString())));
        return () -> {
            vertx.runOnContext(now -> engine.loopServices()
                    .compose(loop -> DemoWheel.ready(
                                    loop.draws(),
                                    engine.wallets(),
                                    engine.clock().instant())
                            .eventually(loop.redis()::close))
                    .onComplete(wheel));
            return wheel.future();
        };
    }

    /**
     * Without Netty's flight recorder events, which every start would instrument, unless the operator asks for them. Of Vert.x' own
     * metrics only the pools': the rest costs on every request, and ours say it better.
     */
    private static Vertx vertx(PrometheusMeterRegistry metrics) {
        System.getProperties().putIfAbsent("io.netty.jfr.enabled", "false");
        MicrometerMetricsOptions pools = new MicrometerMetricsOptions()
                .setEnabled(true)
                .setDisabledMetricsCategories(EnumSet.complementOf(EnumSet.of(MetricsDomain.NAMED_POOLS)).stream()
                        .map(MetricsDomain::toCategory)
                        .collect(Collectors.toSet()));
        return Vertx.builder()
                .with(new VertxOptions().setPreferNativeTransport(true).setMetricsOptions(pools))
                .withMetrics(new MicrometerMetricsFactory(metrics))
                .build();
    }

    /** What all instances of the faces share. */
    private record Faces(HttpVerticle.Shared http, SocketFace.Shared sockets) {}

    private static Faces faces(HongbaoConfig config, Tokens tokens, PrometheusMeterRegistry metrics, Clock clock)
            throws IOException {
        Frames frames = Frames.load();
        Contract contract = Contract.load();
        ClientAddresses addresses = FaceSettings.addresses(config.web().http());
        Admission admission = new Admission(
                tokens,
                new RateLimits(
                        FaceSettings.limits(
                                config.web().limits(), config.domain().packet()),
                        System::nanoTime),
                FaceSettings.inFlight(config));
        HttpVerticle.Shared http = new HttpVerticle.Shared(
                contract,
                PageFiles.chat(config.page().images()),
                admission,
                HttpMetrics.of(metrics, contract),
                FaceSettings.connections(config.web().http(), addresses, metrics),
                DemoRules.login(config, clock));
        SocketGuards guards = new SocketGuards(
                config.web().socket().connections(),
                addresses,
                FaceSettings.origins(config.web().http()));
        SocketFace.Shared sockets = new SocketFace.Shared(
                config.web().socket(), frames, admission, guards, new SocketMetrics(metrics, guards), clock);
        return new Faces(http, sockets);
    }

    private static Future<HttpVerticle.Opened> open(Vertx vertx, Engine engine, SocketFace.Shared sockets) {
        return engine.loopServices()
                .map(loop -> new HttpVerticle.Opened(
                        new Services(
                                loop.claims(),
                                loop.packets(),
                                engine.wallets(),
                                loop.feed(),
                                engine.profiles(),
                                loop.hosted()),
                        new HostServices(
                                engine.newsForHost().outbox(),
                                engine.newsForHost().webhooks(),
                                new HostServices.Money(
                                        engine.accounting().assets(),
                                        engine.accounting().books(),
                                        engine.accounting().restrictions()),
                                engine.accounting().trail(),
                                loop.support()),
                        new SocketFace(
                                vertx,
                                sockets,
                                loop.claims(),
                                loop.packets(),
                                loop.plays(),
                                loop.campaigns(),
                                loop.feed(),
                                engine.accounting().trail().log(),
                                engine.accounting().restrictions()),
                        () -> loop.redis().close()));
    }

    private static Map<String, Supplier<Future<Boolean>>> readiness(
            BooleanSupplier stopping, Engine engine, HttpLoops loops) {
        Map<String, Supplier<Future<Boolean>>> checks = new LinkedHashMap<>();
        checks.put("staying", () -> Future.succeededFuture(!stopping.getAsBoolean()));
        checks.put("postgres", () -> engine.pool().query("select 1").execute().map(true));
        checks.put("redis", engine::isRedisReachable);
        checks.put("shards", () -> Future.succeededFuture(engine.isReady()));
        checks.putAll(loops.checks());
        return checks;
    }

    private void deploy(Vertx vertx, int instances, Supplier<io.vertx.core.Deployable> verticle) throws Exception {
        String id = await(vertx.deployVerticle(verticle, new DeploymentOptions().setInstances(instances)));
        stops.push(() -> stop("a face", vertx.undeploy(id)));
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

    /** Stops in order; returns when everything has stopped. Idempotent. */
    @Override
    public void close() {
        while (!stops.isEmpty()) {
            stops.pop().run();
        }
    }

    private static void stop(String what, Future<?> stopped) {
        try {
            stopped.toCompletionStage().toCompletableFuture().get(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException fault) {
            LOG.warn("{} did not stop cleanly: {}", what, fault.toString());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

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
}
