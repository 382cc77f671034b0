package dev.hongbao.domain.reconcile;

import dev.hongbao.domain.claim.AcceptedClaims;
import dev.hongbao.domain.packet.Close;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.packet.PacketKeys;
import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.ShardAudit;
import dev.hongbao.engine.postgres.Pages;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.StreamSupport;

/**
 * The hash of every open packet holds exactly its settled claims and those in the journal. Reads packets in pages, by their
 * claims, and one packet's hash at a time.
 */
public final class PacketAudit implements ShardAudit {
    private static final int PAGE_PACKETS = 500;
    private static final int PAGE_CLAIMS = 200_000;

    /** Offset 0 keeps Postgres from joining all claims there are: each packet's are read through their index. */
    private static final String OPEN_PACKETS = """
            select p.id, array_agg(w.owner order by c.slot) filter (where c.slot is not null) as users,
                   array_agg(c.slot order by c.slot) filter (where c.slot is not null) as slots
            from (select id from (select id, sum(count) over (order by id) - count as before
                                  from (select id, count from packet
                                        where shard = $1 and closed_at is null and id > $2
                                          and not exists (select from quarantine_unit as q where q.id = packet.id)
                                        order by id limit $3) as next) as page
                  where before < $4) as p
            left join lateral (select slot, credit from transfer
                               where subject = p.id and slot is not null offset 0) as c on true
            left join account as w on w.id = c.credit
            group by p.id order by p.id
            """;

    private final Pool pool;
    private final RedisLink redis;
    private final Generation generation;
    private final Map<String, Map<String, Integer>> unsettled = new HashMap<>();
    private final Set<String> closing = new HashSet<>();
    private final List<String> missing = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();

    public PacketAudit(Pool pool, RedisLink redis, Generation generation) {
        this.pool = pool;
        this.redis = redis;
        this.generation = generation;
    }

    @Override
    public void unsettled(JournalItem item) {
        if (item instanceof AcceptedClaims claims) {
            Map<String, Integer> users =
                    unsettled.computeIfAbsent(claims.packet().toString(), packet -> new HashMap<>());
            int slot = claims.firstSlot();
            for (var user : claims.users()) {
                users.put(user.value(), slot++);
            }
        } else if (item instanceof Close close) {
            closing.add(close.packet().toString());
        }
    }

    @Override
    public Future<Differences> differences() {
        return Pages.each(
                        new UUID(0, 0),
                        this::openPackets,
                        page -> page.isEmpty()
                                ? null
                                : page.get(page.size() - 1).getUUID("id"),
                        this::compareAll)
                .map(compared -> new Differences(missing, wrong));
    }

    private Future<List<Row>> openPackets(UUID after) {
        return pool.preparedQuery(OPEN_PACKETS)
                .execute(Tuple.of((short) generation.shard(), after, PAGE_PACKETS, PAGE_CLAIMS))
                .map(rows -> StreamSupport.stream(rows.spliterator(), false).toList());
    }

    private Future<Void> compareAll(List<Row> page) {
        Future<Void> compared = Future.succeededFuture();
        for (Row row : page) {
            compared = compared.compose(before -> comparePacket(row));
        }
        return compared;
    }

    private Future<Void> comparePacket(Row row) {
        UUID id = row.getUUID("id");
        String packet = id.toString();
        Map<String, Integer> expected = new HashMap<>(unsettled.getOrDefault(packet, Map.of()));
        String[] users = row.getArrayOfStrings("users");
        Integer[] slots = row.getArrayOfIntegers("slots");
        for (int i = 0; users != null && i < users.length; i++) {
            expected.put(users[i], slots[i]);
        }
        return redis.send(Request.cmd(Command.HGETALL).arg(PacketKeys.hash(generation, new PacketId(id))))
                .map(hash -> {
                    compare(packet, expected, hash);
                    return null;
                });
    }

    private void compare(String packet, Map<String, Integer> expected, Response hash) {
        if (hash.size() == 0) {
            missing.add("packet " + packet + " is open, and Redis lacks it");
            return;
        }
        Map<String, Integer> held = new HashMap<>();
        int next = -1;
        boolean closed = false;
        for (String field : hash.getKeys()) {
            int value = hash.get(field).toInteger();
            if (field.equals("#")) {
                next = value;
            } else if (field.equals("!")) {
                closed = true;
            } else {
                held.put(field, value);
            }
        }
        if (closed && !closing.contains(packet)) {
            wrong.add("packet " + packet + " is closed in Redis, open in Postgres, and the journal has no close of it");
        }
        if (next != expected.size() || !held.equals(expected)) {
            wrong.add("packet " + packet + ": Redis holds " + held.size() + " slots, next " + next
                    + "; Postgres and the journal " + expected.size());
        }
    }
}
