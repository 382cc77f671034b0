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
