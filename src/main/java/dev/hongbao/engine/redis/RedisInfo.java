package dev.hongbao.engine.redis;

import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.util.HashMap;
import java.util.Map;

/**
 * What a section of {@code INFO} tells. Hosted servers answer it where they forbid {@code CONFIG}.
 *
 * @param values by name
 */
public record RedisInfo(Map<String, String> values) {
    public RedisInfo {
        values = Map.copyOf(values);
    }

    /** Asks now; {@code section} as in Redis' manual. */
    public static Future<RedisInfo> read(RedisLink redis, String section) {
        return redis.send(Request.cmd(Command.INFO).arg(section)).map(reply -> parse(String.valueOf(reply)));
    }

    /** The same; fails while the server reads its data back, and answers this and hardly anything else. */
    public Future<RedisInfo> whenLoaded() {
        return get("loading").equals("1")
                ? Future.failedFuture(RedisFault.loading(
                        "LOADING Redis reads its data back, and needs some " + get("loading_eta_seconds") + " s more"))
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

    /** Empty when the server does not tell it. */
    public String get(String name) {
        return values.getOrDefault(name, "");
    }
}
