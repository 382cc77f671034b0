package dev.hongbao.store.redis;

import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.util.HashMap;
import java.util.Map;

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
                ? Future.failedFuture(RedisFault.loading(
                        "LOADING Redis is loading its data, and needs about " + get("loading_eta_seconds") + " s more"))
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
