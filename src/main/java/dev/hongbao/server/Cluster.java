package dev.hongbao.server;

import dev.hongbao.common.config.ClusterConfig;
import dev.hongbao.engine.cluster.HazelcastLine;
import dev.hongbao.engine.cluster.ServerLine;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This server's place in the cluster, if one is configured: joined in the background, since that takes seconds and nothing
 * depends on it, and tried again until it succeeds. Thread-safe.
 */
final class Cluster {
    private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);

    private static final long RETRY_SECONDS = 5;

    private final Vertx vertx;
    private final Engine engine;
    private final ClusterConfig config;
    private Future<?> joining = Future.succeededFuture();
    private boolean closed;

    Cluster(Vertx vertx, Engine engine, ClusterConfig config) {
        this.vertx = vertx;
        this.engine = engine;
        this.config = config;
    }

    /** Begins to join; once. Does nothing when no cluster is configured. */
    synchronized void join() {
        if (closed || !config.isOn()) {
            return;
        }
        joining = vertx.executeBlocking(() -> HazelcastLine.join(config, engine.namespace()))
                .compose(line -> line)
                .compose(this::joined)
                .onFailure(fault -> {
                    LOG.warn("the cluster is not joined and is tried again: {}", fault.toString());
                    vertx.timer(RETRY_SECONDS, TimeUnit.SECONDS).onSuccess(later -> join());
                });
    }

    private Future<Void> joined(ServerLine line) {
        LOG.info("joined the cluster {} at {}:{}", config.name(), config.host(), config.port());
        return engine.join(line).recover(fault -> line.close().transform(left -> Future.failedFuture(fault)));
    }

    /** Leaves; a join that is under way ends first. Idempotent. */
    synchronized Future<Void> close() {
        closed = true;
        return joining.transform(done -> engine.leave());
    }
}
