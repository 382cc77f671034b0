package dev.hongbao.engine.redis;

import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import org.jspecify.annotations.Nullable;

/** The route of commands for some keys. It belongs to the event loop of its {@link RedisLinks}; use it on that loop only. */
public interface RedisLink {
    /** Whether a command could be sent now. */
    boolean isConnected();

    /** The link to the server that gets the commands now. All keys of one server share one link. */
    RedisLink server();

    /**
     * Sends a command; replies come in the order of the commands.
     *
     * @return the reply, null for a nil reply; fails with {@link RedisFault}
     */
    Future<@Nullable Response> send(Request request);
}
