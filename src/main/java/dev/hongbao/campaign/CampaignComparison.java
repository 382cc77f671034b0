package dev.hongbao.campaign;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Mode.RedisComparison;
import dev.hongbao.packet.Claim.AcceptedClaims;
import dev.hongbao.packet.PacketKeys;
import dev.hongbao.store.redis.RedisLink;
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
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Compares the hash of every open campaign with limits: its counts must equal the settled claims plus the journal's, per user in total and
 * per product. Counts only grow. So a correct count is at least the claims settled before the read, and at most the claims settled or in
 * the journal afterwards. Any other count is wrong, also while the campaign is in use.
 */
final class CampaignComparison implements RedisComparison {
    private static final String CAMPAIGNS = """
        select c.id, c.definition -> 'claiming' ? 'aProduct' as by_product
        from campaign as c
        where c.shard = $1 and c.closed_at is null and c.definition -> 'claiming' ?| array['total', 'aDay', 'aProduct']
        order by c.id
        """;

    private static final String POOLS =
            "select packet, product from pool where campaign = $1 and packet = any ($2::uuid[])";

    /** With claims set aside, which may still settle. */
    private static final String CLAIMS = """
        select o.product, w.owner as user_id, count(*) as claims
        from pool as o join transfer as t on t.subject = o.packet and t.slot is not null join account as w on w.id = t.credit
        where o.campaign = $1 group by o.product, w.owner
        union all
        select o.product, u.user_id, count(*)
        from pool as o join quarantine as q on q.unit = o.packet and q.verb = 'claim'
        cross join lateral unnest(string_to_array(q.item, ' ')) with ordinality as u(user_id, n)
        where o.campaign = $1 and u.n > 2 group by o.product, u.user_id
        """;

    private final Pool pool;
    private final RedisLink redis;
    private final Generation generation;
    private final List<String> missing = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();

    public CampaignComparison(Pool pool, RedisLink redis, Generation generation) {
        this.pool = pool;
        this.redis = redis;
        this.generation = generation;
    }

    /** Earlier journal entries are ignored: they are in Postgres or in the journal afterwards. */
    @Override
    public Future<Differences> differences(List<JournalItem> before, Supplier<Future<List<JournalItem>>> later) {
        return pool.preparedQuery(CAMPAIGNS)
                .execute(Tuple.of((short) generation.shard()))
                .compose(campaigns -> {
                    Future<Void> done = Future.succeededFuture();
                    for (Row row : campaigns) {
                        done = done.compose(
                                compared -> compare(row.getUUID("id"), row.getBoolean("by_product"), later));
                    }
                    return done;
                })
                .map(compared -> new Differences(missing, wrong));
    }

    private Future<Void> compare(UUID id, boolean byProduct, Supplier<Future<List<JournalItem>>> later) {
        return settled(id, byProduct)
                .compose(before -> redis.send(Request.cmd(Command.HGETALL).arg(PacketKeys.campaign(generation, id)))
                        .compose(hash -> {
                            if (hash.get("#") == null) {
                                missing.add("campaign " + id + " is open, and Redis lacks its counts");
                                return Future.succeededFuture();
                            }
                            Map<String, Long> counted = counted(hash);
                            return counted.equals(before)
                                    ? Future.succeededFuture()
                                    : all(id, byProduct, later).map(after -> {
                                        if (!isWithin(before, counted) || !isWithin(counted, after)) {
                                            wrong.add("campaign " + id + ": Redis has counted " + counted.size()
                                                    + " fields; Postgres and the journal " + before.size()
                                                    + " before and " + after.size() + " after, or other numbers");
                                        }
                                        return null;
                                    });
                        }));
    }

    private static boolean isWithin(Map<String, Long> less, Map<String, Long> more) {
        return less.entrySet().stream().allMatch(count -> count.getValue() <= more.getOrDefault(count.getKey(), 0L));
    }

    private static Map<String, Long> counted(Response hash) {
        Map<String, Long> counted = new HashMap<>();
        for (String field : hash.getKeys()) {
            if (!field.equals("#")) {
                counted.put(field, Long.parseLong(hash.get(field).toString().split(":", 2)[0]));
            }
        }
        return counted;
    }

    private Future<Map<String, Long>> settled(UUID id, boolean byProduct) {
        return pool.preparedQuery(CLAIMS).execute(Tuple.of(id)).map(claims -> {
            Map<String, Long> counts = new HashMap<>();
            claims.forEach(claim -> add(
                    counts,
                    UserId.toRedis(claim.getString("user_id")),
                    claim.getString("product"),
                    claim.getLong("claims"),
                    byProduct));
            return counts;
        });
    }

    /**
     * The journal is read first: entries that it loses later are settled by then. A claim settled in between counts twice, which only
     * raises the upper limit.
     */
    private Future<Map<String, Long>> all(UUID id, boolean byProduct, Supplier<Future<List<JournalItem>>> later) {
        return later.get().compose(items -> {
            List<AcceptedClaims> accepted = items.stream()
                    .filter(AcceptedClaims.class::isInstance)
                    .map(AcceptedClaims.class::cast)
                    .toList();
            return pool.preparedQuery(POOLS)
                    .execute(Tuple.of(id)
                            .addArrayOfUUID(accepted.stream()
                                    .map(claims -> claims.packet().value())
                                    .distinct()
                                    .toArray(UUID[]::new)))
                    .compose(pools -> {
                        Map<UUID, String> products = new HashMap<>();
                        pools.forEach(row -> products.put(row.getUUID("packet"), row.getString("product")));
                        return settled(id, byProduct).map(counts -> {
                            for (AcceptedClaims claims : accepted) {
                                String product = products.get(claims.packet().value());
                                if (product != null) {
                                    claims.users().forEach(user -> add(counts, user.inRedis(), product, 1, byProduct));
                                }
                            }
                            return counts;
                        });
                    });
        });
    }

    private static void add(Map<String, Long> counts, String user, String product, long claims, boolean byProduct) {
        counts.merge(user, claims, Long::sum);
        if (byProduct) {
            counts.merge(user + " " + product, claims, Long::sum);
        }
    }
}
