package dev.hongbao.engine.redis;

import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import org.jspecify.annotations.Nullable;

/** Where commands about some keys go. It belongs to the event loop of its {@link RedisLinks}; use it on that loop only. */
public interface RedisLink {
    /** Whether a command sent now would go out. */
    boolean isConnected();

    /** The link to the server that commands go to now: one and the same for all keys that are there. */
    RedisLink server();

    /**
     * Sends a command; replies come in the order of the commands.
     *
     * @return the reply, null for a nil reply; fails with {@link RedisFault}
     */
    Future<@Nullable Response> send(Request request);
}
