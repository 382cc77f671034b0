package dev.hongbao.store.redis;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that is subscribed to channels, and reconnects until it is closed. It carries nothing but SUBSCRIBE: a push beside
 * a pending command would complete that command and shift all later replies. So it cannot notice a silent Redis: its owner does,
 * and calls {@link #leave}. Use it on its event loop only.
 */
public final class Subscription {
    private static final Logger LOG = LoggerFactory.getLogger(Subscription.class);

    /** An operator changes an ACL by hand; a shorter pause would not help. */
    private static final long REFUSED_SECONDS = 30;

    private final Vertx vertx;
    private final ServerLink link;
    private final List<String> channels;
    private final BiConsumer<String, Buffer> heard;
    private boolean refused;

    /** Connects in the background, with the parameters of {@link ServerLink} and {@link RedisLinks#subscribe}. */
    Subscription(
            Vertx vertx,
            Supplier<Future<RedisOptions>> where,
            Duration timeout,
            String name,
            List<String> channels,
            BiConsumer<String, Buffer> heard) {
        this.vertx = vertx;
        this.channels = List.copyOf(channels);
        this.heard = heard;
        this.link = new ServerLink(vertx, where, timeout, name + " subscription", this::begin);
        link.reconnect();
    }

    private void begin(RedisConnection connection) {
        connection.handler(pushed -> received(connection, pushed));
        subscribe(connection);
    }

    /** The future of SUBSCRIBE only shows that it was written; its answer comes to the handler. */
    private void subscribe(RedisConnection connection) {
        Request subscribe = Request.cmd(Command.SUBSCRIBE);
        channels.forEach(subscribe::arg);
        connection.send(subscribe);
    }

    private void received(RedisConnection connection, Response pushed) {
        if (pushed.type() == ResponseType.ERROR) {
            if (!refused) {
                LOG.warn("Redis refuses SUBSCRIBE, trying again every {} s: {}", REFUSED_SECONDS, pushed.toString());
            }
            refused = true;
            vertx.timer(REFUSED_SECONDS, TimeUnit.SECONDS).onSuccess(later -> subscribe(connection));
            return;
        }
        refused = false;
        if (pushed.get(0).toString().equals("message")) {
            heard.accept(pushed.get(1).toString(), pushed.get(2).toBuffer());
        }
    }

    /** Drops the connection and subscribes at the current server. Does nothing while Redis refuses. */
    public void leave() {
        if (!refused) {
            link.leave();
        }
    }

    /** Closes it for good; idempotent. */
    public Future<Void> close() {
        return link.close();
    }
}
