package dev.hongbao.tools.bench;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.domain.reconcile.Finding;
import dev.hongbao.server.Engine;
import dev.hongbao.server.Reconciler;
import dev.hongbao.server.Services;
import dev.hongbao.server.StoreAddresses;
import dev.hongbao.server.Stores;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** An engine without faces, on stores of its own, with the services of some event loops. Blocking, confined to one thread. */
final class BenchBed implements AutoCloseable {
    private static final Duration READY = Duration.ofSeconds(20);

    private final HongbaoConfig config;
    private final Stores stores;
    private final Vertx vertx;
    private final Engine engine;
    private final List<Loop> loops = new CopyOnWriteArrayList<>();

    /** An event loop and what is confined to it. */
    record Loop(Context context, Services services) {}

    private BenchBed(HongbaoConfig config, Stores stores, Vertx vertx, Engine engine) {
        this.config = config;
        this.stores = stores;
        this.vertx = vertx;
        this.engine = engine;
    }

    /** Starts the stores, an engine that settles, and as many event loops as a server has. */
    static BenchBed start(HongbaoConfig config) throws Exception {
        return start(config, Stores.open(config));
    }

    /**
     * Starts a second engine on the stores of a server that is at work in this data directory, to send packets there. It owns no
     * shards: the server settles, or nobody.
     */
    static BenchBed beside(HongbaoConfig config) throws Exception {
        BenchBed bed = start(config, Stores.join(config));
        bed.acceptOnly();
        return bed;
    }

    private static BenchBed start(HongbaoConfig config, Stores stores) throws Exception {
        Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
        try {
            StoreAddresses addresses = stores.addresses();
            var metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            Engine engine = await(Engine.start(vertx, addresses, config, metrics));
            await(engine.ready(READY));
            BenchBed bed = new BenchBed(config, stores, vertx, engine);
            await(vertx.deployVerticle(
                    bed.new LoopVerticle()::self,
                    new DeploymentOptions().setInstances(config.web().http().effectiveEventLoops())));
            return bed;
        } catch (Exception | LinkageError fault) {
            await(vertx.close());
            stores.close();
            throw fault;
        }
    }

    /** Opens the services of its loop. */
    private final class LoopVerticle extends VerticleBase {
        LoopVerticle self() {
            return new LoopVerticle();
        }

        @Override
        public Future<?> start() {
            return engine.services().onSuccess(services -> loops.add(new Loop(context, services)));
        }
    }

    /** With a Redis that may do all: other ways are raced on it. */
    StoreAddresses stores() {
        return stores.adminAddresses();
    }

    Engine engine() {
        return engine;
    }

    Vertx vertx() {
        return vertx;
    }

    List<Loop> loops() {
        return loops;
    }

    HongbaoConfig config() {
        return config;
    }

    /** Settles from now on. */
    void settle() throws Exception {
        await(engine.startWriter());
    }

    /** Claims are accepted from now on, and wait in the journal. */
    void acceptOnly() throws Exception {
        await(engine.stopWriter());
    }

    /** Holds the books to the invariants; what is wrong makes the findings worthless. */
    void checkBooks(Findings findings) throws Exception {
        checkBooks(stores.addresses(), findings);
    }

    /** The same for the stores of servers elsewhere. */
    static void checkBooks(StoreAddresses stores, Findings findings) throws Exception {
        for (Finding finding : Reconciler.run(stores, found -> {})) {
            finding.lines()
                    .forEach(
                            violation -> findings.fault(finding.invariant() + " " + finding.name() + ": " + violation));
        }
    }

    /** Waits for a future, two minutes at the most. */
    static <T> T await(Future<T> future) throws Exception {
        return future.toCompletionStage().toCompletableFuture().get(2, TimeUnit.MINUTES);
    }

    @Override
    public void close() throws Exception {
        try {
            for (Loop loop : loops) {
                Promise<Void> closed = Promise.promise();
                loop.context()
                        .runOnContext(now -> loop.services().redis().close().onComplete(closed));
                await(closed.future());
            }
            await(engine.close());
            await(vertx.close());
        } finally {
            stores.close();
        }
    }
}
