package dev.hongbao.store.redis;

import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.function.Function;
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

    /**
     * Leaves a server that the address no longer names. A connection may survive a failover: the old server is alive, but another
     * one is in charge. So a new connection to the address is made. The link is left if the server there has the missing thing
     * and this link's server still lacks it. Else nothing changes.
     *
     * <p>A call within a second after another one, or during it, does nothing; so does the link of a slot without a server.
     *
     * @param hasIt asks a server for the missing thing
     * @return never fails; succeeds also if the check failed
     */
    default Future<Void> leaveIfOutdated(Function<RedisLink, Future<Boolean>> hasIt) {
        return Future.succeededFuture();
    }
}
