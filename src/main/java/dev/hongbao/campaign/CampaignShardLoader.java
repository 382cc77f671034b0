package dev.hongbao.campaign;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.engine.Mode.ShardLoader;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.packet.PacketKeys;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;

/**
 * Rewrites the claim counts of a shard's open campaigns. Counts settled claims, and claims of pools set aside, since these may still
 * settle. A claim counts for the day of its settlement. That is the claim's day or, just after midnight, the next one: no claim stops
 * counting too early.
 */
final class CampaignShardLoader implements ShardLoader {
    /** Open campaigns that count claims, so that they have a hash. */
    private static final String OPEN = """
        select c.id from campaign as c
        where c.shard = $1 and c.closed_at is null and c.definition -> 'claiming' ?| array['total', 'aDay', 'aProduct']
        """;

    private static final String OVER = "select id from campaign where id = any ($1) and closed_at is not null";

    /** Two kinds of fields; see {@code claim.lua}. An item set aside has ids in the form of {@link UserId#inRedis}. */
    static final String COUNTS = """
        with claims as (
            select c.id, w.owner as user_id, o.product, local_day(t.at, c.zone) as day,
                   c.definition -> 'claiming' ? 'aProduct' as by_product
            from campaign as c join pool as o on o.campaign = c.id
            cross join lateral (select credit, at from transfer where subject = o.packet and slot is not null offset 0) as t
            join account as w on w.id = t.credit
            where c.shard = $1 and c.closed_at is null and c.definition -> 'claiming' ?| array['total', 'aDay', 'aProduct']
            union all
            select c.id, regexp_replace(u.user_id, '^[.]', ''), o.product, local_day(q.at, c.zone),
                   c.definition -> 'claiming' ? 'aProduct'
            from campaign as c join pool as o on o.campaign = c.id
            join quarantine as q on q.unit = o.packet and q.verb = 'claim'
            cross join lateral unnest(string_to_array(q.item, ' ')) with ordinality as u(user_id, n)
            where c.shard = $1 and u.n > 2
              and c.closed_at is null and c.definition -> 'claiming' ?| array['total', 'aDay', 'aProduct'])
        select id, user_id, count(*) || ':' || last || ':' || count(*) filter (where day = last) as value
        from (select *, max(day) over (partition by id, user_id) as last from claims) as d group by id, user_id, last
        union all
        select id, user_id || ' ' || product, count(*)::text from claims where by_product group by id, user_id, product
        """;

    /** Loads the hash of a committed campaign by {@code load.lua}, as {@link KeyLoader#load} does. */
    public static Future<Void> load(KeyLoader loading, Generation generation, CampaignId id) {
        ShardScript.Call<Integer> call = new ShardScript.Call<>(
                "load",
                1,
                (current, request) -> request.arg(PacketKeys.campaign(current, id.value())),
                (current, reply) -> ShardScript.Reply.of(reply.toInteger()));
        return loading.load(generation, PacketKeys.campaign(generation, id.value()), call)
                .mapEmpty();
    }

    @Override
    public Future<Void> load(Pool pool, RedisLink redis, Generation generation) {
        Tuple shard = Tuple.of((short) generation.shard());
        return ShardLoader.each(pool, generation, OPEN, shard, rows -> write(redis, generation, rows, false))
                .compose(marked -> ShardLoader.each(
                        pool, generation, COUNTS, shard, rows -> write(redis, generation, rows, true)));
    }

    @Override
    public Future<List<String>> over(Pool pool, Generation generation, List<String> keys) {
        return ShardLoader.over(pool, OVER, PacketKeys.campaignPrefix(generation), keys);
    }

    private static Future<Void> write(RedisLink redis, Generation generation, RowSet<Row> rows, boolean counts) {
        List<Future<?>> writes = new ArrayList<>();
        for (Row row : rows) {
            Request write = Request.cmd(Command.HSET).arg(PacketKeys.campaign(generation, row.getUUID("id")));
            writes.add(redis.send(
                    counts
                            ? write.arg(UserId.toRedis(row.getString("user_id")))
                                    .arg(row.getString("value"))
                            : write.arg("#").arg(0)));
        }
        return Future.all(writes).mapEmpty();
    }
}
