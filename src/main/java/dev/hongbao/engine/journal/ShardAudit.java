package dev.hongbao.engine.journal;

import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.util.List;

/**
 * Compares what Redis has of a shard to what is settled in Postgres and what the journal still has. Sees one mode's keys; one
 * use, on the link's event loop.
 */
public interface ShardAudit {
    /** Takes an item of the journal that is not settled, in the journal's order; those of other modes are passed over. */
    void unsettled(JournalItem item);

    /** Compares, after the last item; a sentence for each difference. */
    Future<List<String>> differences();

    /** Makes an audit of one generation. */
    interface Factory {
        ShardAudit of(Pool pool, RedisLink redis, Generation generation);
    }
}
