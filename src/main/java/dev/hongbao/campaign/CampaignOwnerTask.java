package dev.hongbao.campaign;

import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.Shards;
import dev.hongbao.packet.PacketKeys;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;

/**
 * Ends the pools of campaigns that were ended early. Closes an ended campaign after its last pool, and returns the remainder to the
 * sponsor. The sweep removes keys left by a crash.
 */
final class CampaignOwnerTask implements OwnerTask {
    /** Campaigns that are ended and not closed. */
    private static final String ENDED =
            "campaign as c where c.shard = any ($1) and c.closed_at is null and c.ends_at <= now() order by c.ends_at";

    private static final String CLOSE = "select campaign, shard from close_campaigns($1)";

    private final Pool pool;
    private final Shards shards;

    public CampaignOwnerTask(Pool pool, Shards shards) {
        this.pool = pool;
        this.shards = shards;
    }

    @Override
    public String work() {
        return ENDED;
    }

    @Override
    public Future<Void> run(List<Integer> live, RedisLinks redis) {
        Tuple owned = Tuple.tuple().addArrayOfShort(Rows.shorts(live));
        return Transactions.statement(() -> pool.preparedQuery(CLOSE).execute(owned))
                .compose(rows -> {
                    List<String> keys = new ArrayList<>();
                    for (Row row : rows) {
                        keys.add(PacketKeys.campaign(
                                shards.current(row.getInteger("shard")).generation(), row.getUUID("campaign")));
                    }
                    return keys.isEmpty() ? Future.succeededFuture() : redis.unlink(keys);
                });
    }
}
