package dev.hongbao.store.redis;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;

/**
 * Asks Redis whether it can serve, on links of its own. They stay open: new links for each question would wait for a silent
 * sentinel or node while the others serve. Thread-safe.
 */
public final class RedisPing {
    private final Context loop;
    private final RedisLinks links;

    private RedisPing(Context loop, RedisLinks links) {
        this.loop = loop;
        this.links = links;
    }

    /** Opens the links on the current event loop, with the parameters and failures of {@link RedisLinks#open}. */
    public static Future<RedisPing> open(Vertx vertx, String url, Duration timeout) {
        Context loop = vertx.getOrCreateContext();
        return RedisLinks.open(vertx, url, timeout, "ping").map(links -> new RedisPing(loop, links));
    }

    /** The links of the questions. Use them on the event loop on which they were opened, and do not close them. */
    public RedisLinks links() {
        return links;
    }

    /**
     * Whether Redis, or one node of a cluster, answers now and has all needed commands.
     *
     * @param key one of the server's keys; see {@link RedisCommands#missing}
     * @return true; else fails with the missing commands or the fault, after twice the timeout at the latest
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
