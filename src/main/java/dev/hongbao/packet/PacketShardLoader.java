package dev.hongbao.packet;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Mode.ShardLoader;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.values.PacketId;
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
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rewrites the hashes of a shard's open packets from the settled claims, except packets set aside. A packet's next slot is its number of
 * claims, and its highest slot + 1.
 */
final class PacketShardLoader implements ShardLoader {
    private static final Logger LOG = LoggerFactory.getLogger(PacketShardLoader.class);

    private static final String OPEN = """
        select p.id, c.claims, c.next_slot, q.id is not null as aside
        from packet as p
        left join quarantine_unit as q on q.id = p.id
        cross join lateral (select count(*) as claims, coalesce(max(slot) + 1, 0) as next_slot
                            from transfer where subject = p.id and slot is not null) as c
        where p.shard = $1 and p.closed_at is null
        """;

    private static final String OVER = "select id from packet where id = any ($1) and closed_at is not null";

    /**
     * Reads claims only of packets that were not set aside when the packets were read. An operator may have returned one since, and a hash
     * of claims without a next slot is invalid. The offset of 0 makes the planner read each packet's claims in the partition of their
     * month, whatever its statistics.
     */
    private static final String CLAIMS = """
        select p.id as packet, c.slot, w.owner as user_id
        from packet as p
        cross join lateral (select slot, credit from transfer where subject = p.id and slot is not null offset 0) as c
        join account as w on w.id = c.credit
        where p.shard = $1 and p.closed_at is null and p.id <> all ($2)
          and not exists (select from quarantine_unit as q where q.id = p.id)
        order by p.id, c.slot
        """;

    @Override
    public Future<Void> load(Pool pool, RedisLink redis, Generation generation) {
        short shard = (short) generation.shard();
        List<UUID> aside = new ArrayList<>();
        return ShardLoader.each(
                        pool, generation, OPEN, Tuple.of(shard), rows -> writeNextSlots(redis, generation, rows, aside))
                .compose(done -> ShardLoader.each(
                        pool,
                        generation,
                        CLAIMS,
                        Tuple.of(shard).addArrayOfUUID(aside.toArray(UUID[]::new)),
                        rows -> writeClaims(redis, generation, rows)));
    }

    @Override
    public Future<List<String>> over(Pool pool, Generation generation, List<String> keys) {
        return ShardLoader.over(pool, OVER, PacketKeys.hashPrefix(generation), keys);
    }

    private static Future<Void> writeNextSlots(
            RedisLink redis, Generation generation, RowSet<Row> rows, List<UUID> aside) {
        List<Future<?>> writes = new ArrayList<>();
        for (Row row : rows) {
            if (row.getBoolean("aside")) {
                aside.add(row.getUUID("id"));
                continue;
            }
            long claims = row.getLong("claims");
            int nextSlot = row.getInteger("next_slot");
            if (claims != nextSlot) {
                // No share is granted twice. The shares of the gap can only be refunded.
                LOG.error(
                        "packet {} has {} claims but its highest slot is {}", row.getUUID("id"), claims, nextSlot - 1);
            }
            writes.add(redis.send(Request.cmd(Command.HSET)
                    .arg(PacketKeys.hash(generation, new PacketId(row.getUUID("id"))))
                    .arg("#")
                    .arg(nextSlot)));
        }
        return Future.all(writes).mapEmpty();
    }

    private static Future<Void> writeClaims(RedisLink redis, Generation generation, RowSet<Row> rows) {
        List<Future<?>> writes = new ArrayList<>();
        UUID packet = null;
        Request write = null;
        for (Row row : rows) {
            if (write == null || !row.getUUID("packet").equals(packet)) {
                if (write != null) {
                    writes.add(redis.send(write));
                }
                packet = row.getUUID("packet");
                write = Request.cmd(Command.HSET).arg(PacketKeys.hash(generation, new PacketId(packet)));
            }
            write.arg(UserId.toRedis(row.getString("user_id"))).arg(row.getInteger("slot"));
        }
        if (write != null) {
            writes.add(redis.send(write));
        }
        return Future.all(writes).mapEmpty();
    }
}
