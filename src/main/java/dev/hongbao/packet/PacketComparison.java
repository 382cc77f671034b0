package dev.hongbao.packet;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Mode.RedisComparison;
import dev.hongbao.packet.Claim.AcceptedClaims;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Compares the hash of every open packet: it must hold the settled claims and the journal's, and no others. Works also on packets in use:
 * the hash is read between two reads of Postgres and the journal. It must hold each claim of the first read, and the second must have each
 * claim in the hash. Reads packets in pages by their number of claims, and one hash at a time.
 */
final class PacketComparison implements RedisComparison {
    private static final int PAGE_PACKETS = 500;
    private static final int PAGE_CLAIMS = 20_000;

    /** Offset 0 keeps the planner from joining all claims: each packet's claims are read through their index. */
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

    /** For packets whose hash differs from the first read. */
    private static final String NOW = """
        select p.id, p.closed_at is not null or exists (select from quarantine_unit as q where q.id = p.id) as is_over,
               array_agg(w.owner order by c.slot) filter (where c.slot is not null) as users,
               array_agg(c.slot order by c.slot) filter (where c.slot is not null) as slots
        from unnest($1::uuid[]) as u(id) join packet as p on p.id = u.id
        left join lateral (select slot, credit from transfer
                           where subject = p.id and slot is not null offset 0) as c on true
        left join account as w on w.id = c.credit
        group by p.id order by p.id
        """;

    /**
     * A packet's hash in Redis.
     *
     * @param before the claims of the first read, which it must hold
     * @param next -1 when the hash is missing
     */
    private record Held(UUID id, Map<String, Integer> before, Map<String, Integer> users, int next, boolean isClosed) {
        static Held of(UUID id, Map<String, Integer> before, Response hash) {
            Map<String, Integer> users = new HashMap<>();
            int next = -1;
            boolean isClosed = false;
            for (String field : hash.getKeys()) {
                int value = hash.get(field).toInteger();
                if (field.equals("#")) {
                    next = value;
                } else if (field.equals("!")) {
                    isClosed = true;
                } else {
                    users.put(field, value);
                }
            }
            return new Held(id, before, users, next, isClosed);
        }

        boolean isMissing() {
            return next < 0 && users.isEmpty();
        }
    }

    private final Pool pool;
    private final RedisLink redis;
    private final Generation generation;
    private final Journal before = new Journal();
    private final List<String> missing = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();

    public PacketComparison(Pool pool, RedisLink redis, Generation generation) {
        this.pool = pool;
        this.redis = redis;
        this.generation = generation;
    }

    /** The journal's claims and closes: users' slots by packet, and the closed packets. */
    private static final class Journal {
        private final Map<UUID, Map<String, Integer>> claims = new HashMap<>();
        private final Set<UUID> closing = new HashSet<>();

        void add(JournalItem item) {
            if (item instanceof AcceptedClaims accepted) {
                Map<String, Integer> users =
                        claims.computeIfAbsent(accepted.packet().value(), packet -> new HashMap<>());
                int slot = accepted.firstSlot();
                for (var user : accepted.users()) {
                    users.put(user.inRedis(), slot++);
                }
            } else if (item instanceof Close close) {
                closing.add(close.packet().value());
            }
        }

        /** Adds the settled claims. */
        Map<String, Integer> with(Row settled) {
            Map<String, Integer> all = new HashMap<>(claims.getOrDefault(settled.getUUID("id"), Map.of()));
            String[] users = settled.getArrayOfStrings("users");
            Integer[] slots = settled.getArrayOfIntegers("slots");
            for (int i = 0; users != null && i < users.length; i++) {
                all.put(UserId.toRedis(users[i]), slots[i]);
            }
            return all;
        }
    }

    @Override
    public Future<Differences> differences(List<JournalItem> items, Supplier<Future<List<JournalItem>>> later) {
        items.forEach(before::add);
        return Pages.each(
                        new UUID(0, 0),
                        this::openPackets,
                        page -> page.isEmpty()
                                ? null
                                : page.get(page.size() - 1).getUUID("id"),
                        page -> compareAll(page, later))
                .map(compared -> new Differences(missing, wrong));
    }

    private Future<List<Row>> openPackets(UUID after) {
        return pool.preparedQuery(OPEN_PACKETS)
                .execute(Tuple.of((short) generation.shard(), after, PAGE_PACKETS, PAGE_CLAIMS))
                .map(rows -> rows.stream().toList());
    }

    private Future<Void> compareAll(List<Row> page, Supplier<Future<List<JournalItem>>> later) {
        List<Held> differing = new ArrayList<>();
        Future<Void> read = Future.succeededFuture();
        for (Row row : page) {
            UUID id = row.getUUID("id");
            Map<String, Integer> expected = before.with(row);
            read = read.compose(earlier ->
                            redis.send(Request.cmd(Command.HGETALL).arg(PacketKeys.hash(generation, new PacketId(id)))))
                    .map(hash -> {
                        Held held = Held.of(id, expected, hash);
                        if (held.isClosed || held.next != expected.size() || !held.users.equals(expected)) {
                            differing.add(held);
                        }
                        return null;
                    });
        }
        return read.compose(all -> differing.isEmpty()
                ? Future.succeededFuture()
                // The journal is read first: claims that it loses later are settled by then.
                : later.get().compose(items -> {
                    Journal after = new Journal();
                    items.forEach(after::add);
                    return pool.preparedQuery(NOW)
                            .execute(Tuple.tuple().addArrayOfUUID(Rows.column(differing, UUID[]::new, Held::id)))
                            .map(rows -> {
                                Map<UUID, Row> now = new HashMap<>();
                                rows.forEach(row -> now.put(row.getUUID("id"), row));
                                differing.forEach(held -> compare(held, now.get(held.id), after));
                                return null;
                            });
                }));
    }

    private void compare(Held held, @Nullable Row now, Journal after) {
        String packet = "packet " + held.id;
        if (now == null || now.getBoolean("is_over")) {
            return; // its keys are being removed
        }
        if (held.isMissing()) {
            missing.add(packet + " is open, and Redis lacks it");
            return;
        }
        if (held.isClosed && !before.closing.contains(held.id) && !after.closing.contains(held.id)) {
            wrong.add(packet + " is closed in Redis, open in Postgres, and the journal has no close of it");
        }
        Map<String, Integer> expected = after.with(now);
        if (held.next != held.users.size()
                || !held.users.entrySet().containsAll(held.before.entrySet())
                || !expected.entrySet().containsAll(held.users.entrySet())) {
            wrong.add(packet + ": Redis holds " + held.users.size() + " slots, next " + held.next
                    + "; Postgres and the journal " + held.before.size() + " before and " + expected.size() + " after");
        }
    }
}
