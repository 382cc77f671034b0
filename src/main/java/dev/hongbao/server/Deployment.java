package dev.hongbao.server;

import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One verticle that runs or does not. A start and a stop wait for those before them; one that failed is as none. Not for several threads at once. */
final class Deployment {
    private final Vertx vertx;
    private Future<@Nullable String> running = Future.succeededFuture();

    Deployment(Vertx vertx) {
        this.vertx = vertx;
    }

    /** Deploys it unless it runs. @param verticle makes it */
    Future<Void> start(Supplier<Deployable> verticle) {
        running = running.otherwiseEmpty()
                .compose(id -> id != null ? Future.succeededFuture(id) : vertx.deployVerticle(verticle.get()));
        return running.mapEmpty();
    }

    /** Undeploys it if it runs. Idempotent. */
    Future<Void> stop() {
        running = running.otherwiseEmpty()
                .compose(id -> id == null
                        ? Future.succeededFuture()
                        : vertx.undeploy(id).mapEmpty());
        return running.mapEmpty();
    }
}
