package dev.hongbao.server;

import dev.hongbao.engine.redis.RedisFault;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.redis.Script;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Where servers tell each other over Redis what is good to know and not needed: connects when there is something to tell, has one
 * exchange under way at a time, and warns once a minute while it fails. Made on an event loop and used on it only.
 */
final class RedisExchange {
    /** A Redis that is about as slow as its timeout, or a cluster of which a part is away, fails now and then. */
    private static final long WARN_NANOS = Duration.ofMinutes(1).toNanos();

    private final Vertx vertx;
    private final String redisUrl;
    private final Duration timeout;
    private final Name name;
    private @Nullable Future<RedisLinks> links;
    private boolean isUnderWay;
    private boolean closed;
    private long warnedNanos = System.nanoTime() - WARN_NANOS;

    /**
     * What the operator reads.
     *
     * @param links the connection's name
     * @param log where a failure is told
     * @param failure what it means
     */
    record Name(String links, Logger log, String failure) {}

    /** @param timeout for connecting and for each reply */
    RedisExchange(Vertx vertx, String redisUrl, Duration timeout, Name name) {
        this.vertx = vertx;
        this.redisUrl = redisUrl;
        this.timeout = timeout;
        this.name = name;
    }

    /** Whether the last exchange has not ended: what is to be told waits, or is dropped. */
    boolean isUnderWay() {
        return isUnderWay;
    }

    /** Makes an exchange. Only while none is under way. */
    <T> Future<T> run(Function<RedisLinks, Future<T>> exchange) {
        isUnderWay = true;
        return links().compose(exchange).onComplete(told -> {
            isUnderWay = false;
            if (told.failed() && !closed && System.nanoTime() - warnedNanos >= WARN_NANOS) {
                warnedNanos = System.nanoTime();
                name.log.warn("{}: {}", name.failure, told.cause().getMessage());
            }
        });
    }

    /**
     * Calls a script by its SHA, and gives it to a server that does not know it. These scripts fence nothing: a server that lost its data
     * may have them.
     *
     * @param call EVALSHA with the script's SHA
     */
    static Future<@Nullable Response> call(RedisLink server, Script script, Request call) {
        return server.send(call)
                .recover(fault -> RedisFault.is(fault, RedisFault.Kind.NO_SCRIPT)
                        ? server.send(Request.cmd(Command.SCRIPT).arg("LOAD").arg(script.text()))
                                .compose(loaded -> server.send(call))
                        : Future.failedFuture(fault));
    }

    private Future<RedisLinks> links() {
        if (closed) {
            return Future.failedFuture("closed");
        }
        Future<RedisLinks> open = links;
        if (open == null || open.failed()) {
            open = RedisLinks.open(vertx, redisUrl, timeout, name.links);
            links = open;
        }
        return open;
    }

    /** Closes the connection for good, also one that is being opened. Idempotent. */
    Future<Void> close() {
        closed = true;
        Future<RedisLinks> open = links;
        return open == null
                ? Future.succeededFuture()
                : open.transform(opened -> opened.succeeded() ? opened.result().close() : Future.succeededFuture());
    }
}
