package dev.hongbao.engine;

import dev.hongbao.store.redis.RedisLink;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Writes a shard's open units from Postgres into a new generation's keys: the fourth step of recovery. */
public interface ShardLoader {
    /**
     * Loads the shard. The generation's scripts are loaded later, so the keys may be written in pages. Called on the persistence
     * verticle's event loop.
     */
    Future<Void> load(Pool pool, RedisLink redis, Generation generation);

    /** Returns the generation's keys that are obsolete: by Postgres their units are over. */
    default Future<List<String>> over(Pool pool, Generation generation, List<String> keys) {
        return Future.succeededFuture(List.of());
    }

    /**
     * Returns the obsolete ones of the keys that are a prefix and an id.
     *
     * @param sql returns the ids that are over, in its first column; its parameter is an array of ids
     */
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
