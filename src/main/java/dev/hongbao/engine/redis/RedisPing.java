package dev.hongbao.engine.redis;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;

/**
 * Asks Redis whether it can serve, on links that carry nothing else. They stay open: to open new ones for a question would wait for a
 * sentinel or a node that is silent, while the others serve. Thread-safe.
 */
public final class RedisPing {
    private final Context loop;
    private final RedisLinks links;

    private RedisPing(Context loop, RedisLinks links) {
        this.loop = loop;
        this.links = links;
    }

    /** Opens the links on the current event loop. Parameters as of {@link RedisLinks#open}; fails as it does. */
    public static Future<RedisPing> open(Vertx vertx, String url, Duration timeout) {
        Context loop = vertx.getOrCreateContext();
        return RedisLinks.open(vertx, url, timeout, "ping").map(links -> new RedisPing(loop, links));
    }

    /** The links that it asks on. Use them on the event loop that it was opened on, and do not close them. */
    public RedisLinks links() {
        return links;
    }

    /**
     * Whether Redis, or one node of a cluster, answers now, and has all commands that are needed.
     *
     * @param key such as the server has; see {@link RedisCommands#missing}
     * @return true; or fails with what is missing, or with the fault, after twice the timeout at the latest
     */
    public Future<Boolean> ask(String key) {
        Promise<Boolean> answer = Promise.promise();
        loop.runOnContext(now -> Future.any(links.servers().stream()
                        .map(server -> RedisCommands.require(server, key))
                        .toList())
                .map(true)
                .onComplete(answer));
        return answer.future();
    }

    /** Closes the links for good; idempotent. */
    public Future<Void> close() {
        Promise<Void> closed = Promise.promise();
        loop.runOnContext(now -> links.close().onComplete(closed));
        return closed.future();
    }
}
