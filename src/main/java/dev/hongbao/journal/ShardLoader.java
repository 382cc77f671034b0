package dev.hongbao.journal;

import dev.hongbao.redis.RedisLink;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;

/** Writes what is open in a shard from Postgres into a new generation's keys: the fourth step of recovery. */
public interface ShardLoader {
    /**
     * Loads the shard. No script of the generation can run before recovery loads them, so the keys may be written in pages.
     * Called on the persistence verticle's event loop.
     */
    Future<Void> load(Pool pool, RedisLink redis, Generation generation);
}
