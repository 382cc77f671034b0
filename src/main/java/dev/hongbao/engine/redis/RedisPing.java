package dev.hongbao.engine.redis;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;

/**
 * Asks Redis whether it answers, on links that carry nothing else. They stay open: to open new ones for a question would wait for a
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

    /** Whether a command reaches Redis now, or one node of a cluster. @return true; or fails, after the timeout at the latest */
    public Future<Boolean> ask() {
        Promise<Boolean> answer = Promise.promise();
        loop.runOnContext(now -> Future.any(links.servers().stream()
                        .map(server -> server.send(Request.cmd(Command.PING)))
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
