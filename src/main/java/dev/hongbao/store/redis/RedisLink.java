package dev.hongbao.store.redis;

import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.HashMap;
import java.util.Map;
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

    /**
     * A section of {@code INFO}. Hosted servers answer it even if they forbid {@code CONFIG}.
     *
     * @param values by name
     */
    public record RedisInfo(Map<String, String> values) {
        public RedisInfo {
            values = Map.copyOf(values);
        }

        /**
         * Asks now.
         *
         * @param section as in Redis' manual
         */
        public static Future<RedisInfo> read(RedisLink redis, String section) {
            return redis.send(Request.cmd(Command.INFO).arg(section)).map(reply -> parse(String.valueOf(reply)));
        }

        /** Returns this, or fails while the server loads its data: then it answers little else. */
        public Future<RedisInfo> whenLoaded() {
            return get("loading").equals("1")
                    ? Future.failedFuture(RedisFault.loading("LOADING Redis is loading its data, and needs about "
                            + get("loading_eta_seconds") + " s more"))
                    : Future.succeededFuture(this);
        }

        static RedisInfo parse(String text) {
            Map<String, String> values = new HashMap<>();
            text.lines().forEach(line -> {
                int colon = line.indexOf(':');
                if (colon > 0) {
                    values.put(line.substring(0, colon), line.substring(colon + 1));
                }
            });
            return new RedisInfo(values);
        }

        /** The value of a field; empty if the server does not report it. */
        public String get(String name) {
            return values.getOrDefault(name, "");
        }
    }
}
