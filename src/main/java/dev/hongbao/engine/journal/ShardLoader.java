package dev.hongbao.engine.journal;

import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Writes what is open in a shard from Postgres into a new generation's keys: the fourth step of recovery. */
public interface ShardLoader {
    /**
     * Loads the shard. No script of the generation can run before recovery loads them, so the keys may be written in pages.
     * Called on the persistence verticle's event loop.
     */
    Future<Void> load(Pool pool, RedisLink redis, Generation generation);

    /** Those of the generation's keys that nobody needs any more: what they are of is over, by Postgres. */
    default Future<List<String>> over(Pool pool, Generation generation, List<String> keys) {
        return Future.succeededFuture(List.of());
    }

    /** The same for keys that are a prefix and an id. */
    static Future<List<String>> over(Pool pool, String sql, String prefix, List<String> keys) {
        Map<UUID, String> byId = new HashMap<>();
        for (String key : keys) {
            if (key.startsWith(prefix)) {
                byId.put(UUID.fromString(key.substring(prefix.length())), key);
            }
        }
        if (byId.isEmpty()) {
            return Future.succeededFuture(List.of());
        }
        return pool.preparedQuery(sql)
                .execute(Tuple.tuple().addArrayOfUUID(byId.keySet().toArray(UUID[]::new)))
                .map(rows -> {
                    List<String> over = new ArrayList<>();
                    rows.forEach(row -> over.add(byId.get(row.getUUID(0))));
                    return over;
                });
    }
}
