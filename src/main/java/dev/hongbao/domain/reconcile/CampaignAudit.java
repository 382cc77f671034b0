package dev.hongbao.domain.reconcile;

import dev.hongbao.domain.campaign.CampaignShardLoader;
import dev.hongbao.domain.claim.AcceptedClaims;
import dev.hongbao.domain.packet.PacketKeys;
import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.ShardAudit;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The hash of every open campaign with limits has counted exactly the settled claims and those in the journal: of each user in all,
 * and on the pools of each product.
 */
public final class CampaignAudit implements ShardAudit {
    private static final String CAMPAIGNS = "select c.id, c.definition -> 'claiming' ? 'aProduct' as by_product"
            + " from campaign as c where c.shard = $1 and" + CampaignShardLoader.COUNTING + "order by c.id";

    private static final String POOLS = "select o.packet, o.campaign, o.product from unnest($1::uuid[]) as u(id)"
            + " join pool as o on o.packet = u.id";

    /** Also of what is set aside: it may be settled yet. */
    private static final String CLAIMS = "select o.product, w.owner as user_id, count(*) as claims"
            + " from pool as o join transfer as t on t.subject = o.packet and t.slot is not null"
            + " join account as w on w.id = t.credit where o.campaign = $1 group by o.product, w.owner"
            + " union all"
            + " select o.product, u.user_id, count(*) from pool as o"
            + " join quarantine as q on q.unit = o.packet and q.verb = 'claim'"
            + " cross join lateral unnest(string_to_array(q.item, ' ')) with ordinality as u(user_id, n)"
            + " where o.campaign = $1 and u.n > 2 group by o.product, u.user_id";

    private final Pool pool;
    private final RedisLink redis;
    private final Generation generation;
    /** What the journal has of each packet. */
    private final Map<UUID, List<AcceptedClaims>> unsettled = new HashMap<>();

    private final List<String> missing = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();

    public CampaignAudit(Pool pool, RedisLink redis, Generation generation) {
        this.pool = pool;
        this.redis = redis;
        this.generation = generation;
    }

    @Override
    public void unsettled(JournalItem item) {
        if (item instanceof AcceptedClaims claims) {
            unsettled
                    .computeIfAbsent(claims.packet().value(), packet -> new ArrayList<>())
                    .add(claims);
        }
    }

    @Override
    public Future<Differences> differences() {
        return pool.preparedQuery(CAMPAIGNS)
                .execute(Tuple.of((short) generation.shard()))
                .compose(campaigns -> campaigns.rowCount() == 0
                        ? Future.succeededFuture()
                        : accepted().compose(accepted -> compareAll(campaigns, accepted)))
                .map(compared -> new Differences(missing, wrong));
    }

    /** What the journal holds of pools: by campaign, the counts of its hash's fields. */
    private Future<Map<UUID, Map<String, Long>>> accepted() {
        return pool.preparedQuery(POOLS)
                .execute(Tuple.tuple().addArrayOfUUID(unsettled.keySet().toArray(UUID[]::new)))
                .map(rows -> {
                    Map<UUID, Map<String, Long>> accepted = new HashMap<>();
                    for (Row row : rows) {
                        Map<String, Long> counts =
                                accepted.computeIfAbsent(row.getUUID("campaign"), campaign -> new HashMap<>());
                        for (AcceptedClaims claims : unsettled.getOrDefault(row.getUUID("packet"), List.of())) {
                            claims.users().forEach(user -> add(counts, user.value(), row.getString("product"), 1));
                        }
                    }
                    return accepted;
                });
    }

    private static void add(Map<String, Long> counts, String user, String product, long claims) {
        counts.merge(user, claims, Long::sum);
        counts.merge(user + " " + product, claims, Long::sum);
    }

    private Future<Void> compareAll(RowSet<Row> campaigns, Map<UUID, Map<String, Long>> accepted) {
        Future<Void> done = Future.succeededFuture();
        for (Row row : campaigns) {
            UUID id = row.getUUID("id");
            Map<String, Long> expected = accepted.getOrDefault(id, new HashMap<>());
            boolean byProduct = row.getBoolean("by_product");
            done = done.compose(before -> pool.preparedQuery(CLAIMS).execute(Tuple.of(id)))
                    .compose(claims -> {
                        claims.forEach(claim -> add(
                                expected,
                                claim.getString("user_id"),
                                claim.getString("product"),
                                claim.getLong("claims")));
                        expected.keySet().removeIf(field -> !byProduct && field.indexOf(' ') >= 0);
                        return redis.send(Request.cmd(Command.HGETALL).arg(PacketKeys.campaign(generation, id)));
                    })
                    .map(hash -> {
                        compare(id, expected, hash);
                        return null;
                    });
        }
        return done;
    }

    private void compare(UUID campaign, Map<String, Long> expected, Response hash) {
        if (hash.get("#") == null) {
            missing.add("campaign " + campaign + " is open, and Redis lacks its counts");
            return;
        }
        Map<String, Long> counted = new HashMap<>();
        for (String field : hash.getKeys()) {
            if (!field.equals("#")) {
                counted.put(field, Long.parseLong(hash.get(field).toString().split(":", 2)[0]));
            }
        }
        if (!counted.equals(expected)) {
            wrong.add("campaign " + campaign + ": Redis has counted " + counted.size()
                    + " fields; Postgres and the journal " + expected.size() + ", or other numbers");
        }
    }
}
