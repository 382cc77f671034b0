package dev.hongbao.engine;

import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The shards' rows in Postgres: the truth of generations and cursors. Thread-safe. */
public final class ShardStore {
    private static final String ROW = "select id, epoch, nonce, last_seq, replid, restored,"
            + " array(select q.id from quarantine_unit as q where q.shard = shard.id) as aside from shard ";

    private final Pool pool;
    private final Pool lengthy;
    private final Installation installation;
    private final Random random;

    /**
     * One shard's row.
     *
     * @param lastSeq the cursor: the last journal entry settled in the generation
     * @param replid Redis' master_replid when the generation was drawn; empty before the first
     * @param restored the latest epoch drawn because Postgres had gone back in time; 0 for none
     * @param aside its packets and draws that are set aside. Units that are set aside at this moment may be absent; the
     *     settlement then fails with {@link dev.hongbao.store.postgres.SqlState#isUnawareOfQuarantine}
     */
    public record ShardRow(Generation generation, long lastSeq, String replid, long restored, Set<UUID> aside) {
        public ShardRow {
            aside = Set.copyOf(aside);
        }

        /** Whether units came back that the generation lacks: see {@link QuarantineStore}. */
        boolean lacksUnits() {
            return replid.equals("-");
        }

        /**
         * Whether a Redis holds any of the shards as its latest recovery left it: the journal is there, and the replication id is
         * equal.
         *
         * @return fails if Redis answers for none of the shards
         */
        public static Future<Boolean> isAnyIn(Loop loop, RedisLinks redis, List<ShardRow> shards) {
            Map<RedisLink, Future<String>> replids = new HashMap<>();
            List<Future<Boolean>> looks = shards.stream()
                    .filter(row -> row.generation().epoch() > 0)
                    .map(row -> {
                        RedisLink link = row.generation().link(redis);
                        Future<Boolean> look = link.send(Request.cmd(Command.EXISTS)
                                        .arg(row.generation().journalKey()))
                                // Not before: the answer about the key corrects a cluster's old map.
                                .compose(there -> replids.computeIfAbsent(link.server(), RedisWatch::replid)
                                        .map(now -> there.toInteger() == 1
                                                && (row.lacksUnits()
                                                        || row.replid().equals(now))));
                        return loop.timeout(look, RedisWatch.ANSWER_MILLIS);
                    })
                    .toList();
            return Future.join(looks)
                    .transform(looked -> looks.isEmpty() || looks.stream().anyMatch(Future::succeeded)
                            ? Future.succeededFuture(looks.stream().anyMatch(look -> look.succeeded() && look.result()))
                            : Future.failedFuture(looked.cause()));
        }
    }

    public ShardStore(Pool pool, Installation installation) {
        this(pool, pool, installation);
    }

    /**
     * @param lengthy a pool whose statements may take minutes
     */
    public ShardStore(Pool pool, Pool lengthy, Installation installation) {
        this(pool, lengthy, installation, new SecureRandom());
    }

    /** @param random of the generations' nonces */
    public ShardStore(Pool pool, Pool lengthy, Installation installation, Random random) {
        this.pool = pool;
        this.lengthy = lengthy;
        this.installation = installation;
        this.random = random;
    }

    /** The pool of the owner's work. */
    Pool pool() {
        return pool;
    }

    /** The pool whose statements may take minutes. */
    Pool lengthy() {
        return lengthy;
    }

    public Installation installation() {
        return installation;
    }

    /**
     * Fixes the number of shards at the very first start; later it changes nothing.
     *
     * @return the number of shards; it may differ from {@code wanted}
     */
    public Future<Integer> establish(int wanted) {
        return pool.preparedQuery("insert into shard (id) select generate_series(0, $1::integer - 1)"
                        + " where not exists (select from shard) on conflict do nothing")
                .execute(Tuple.of(wanted))
                .compose(done -> pool.query("select count(*) from shard").execute())
                .map(rows -> rows.iterator().next().getInteger(0));
    }

    /** Names the database and the start of Postgres. Another one may have come out of a backup. */
    Future<String> postgresStart() {
        return pool.query("select postgres_start()")
                .execute()
                .map(rows -> rows.iterator().next().getString(0));
    }

    /** All shards, by id. */
    public Future<List<ShardRow>> readAll() {
        return pool.query(ROW + "order by id").execute().map(this::rows);
    }

    /**
     * Reads some shards' rows with a lock. It waits for a settlement whose commit is still under way, so that its outcome is
     * seen. It does not wait for sends, which only keep the generation.
     */
    public Future<List<ShardRow>> readSettled(SqlClient client, Collection<Integer> shards) {
        return readLocked(client, shards, "");
    }

    /** Reads one shard's row like {@link #readSettled(SqlClient, Collection)}, on a connection of this store. */
    public Future<ShardRow> readSettled(int shard) {
        return readSettled(pool, List.of(shard)).map(rows -> rows.get(0));
    }

    /** Reads some shards' rows with a lock, but without a wait: rows that another transaction holds are absent. */
    public Future<List<ShardRow>> readIfSettled(SqlClient client, Collection<Integer> shards) {
        return readLocked(client, shards, " skip locked");
    }

    private Future<List<ShardRow>> readLocked(SqlClient client, Collection<Integer> shards, String otherwise) {
        Short[] ids = Rows.shorts(shards);
        return client.preparedQuery(ROW + "where id = any ($1) order by id for no key update" + otherwise)
                .execute(Tuple.of(ids))
                .map(this::rows);
    }

    /** See {@link Shards#hold}. */
    Future<Generation> hold(SqlClient tx, int shard) {
        return tx.preparedQuery("select epoch, nonce from hold_generations(array[$1::smallint])")
                .execute(Tuple.of((short) shard))
                .map(rows -> rows.iterator().next())
                .map(row ->
                        new Generation(installation.namespace(), shard, row.getLong("epoch"), row.getString("nonce")));
    }

    /**
     * Draws the next generation of a shard. It waits for the sends that read the current one.
     *
     * @param knownEpoch the highest epoch that Redis and the servers know
     * @param wentBack whether Postgres lost epochs that they know
     * @return the new row; null if another recovery drew one meanwhile: that recovery prepares it
     */
    public Future<@Nullable ShardRow> drawNext(Generation current, long knownEpoch, boolean wentBack, String replid) {
        String nonce = nonce();
        return pool.preparedQuery("select draw_generation($1, $2, $3, $4, $5, $6, $7)")
                .execute(Tuple.of((short) current.shard(), current.epoch(), current.nonce())
                        .addLong(knownEpoch)
                        .addBoolean(wentBack)
                        .addString(nonce)
                        .addString(replid))
                .map(rows -> {
                    Long epoch = rows.iterator().next().getLong(0);
                    return epoch == null
                            ? null
                            : new ShardRow(
                                    new Generation(installation.namespace(), current.shard(), epoch, nonce),
                                    0,
                                    replid,
                                    wentBack ? epoch : 0,
                                    Set.of());
                });
    }

    /** Asks the owner of a shard to check it; see {@link RecoveryRequest}. */
    Future<Void> notifyOwner(RecoveryRequest request) {
        return pool.preparedQuery("select pg_notify($1, $2)")
                .execute(Tuple.of(RecoveryRequest.CHANNEL, request.encode()))
                .mapEmpty();
    }

    private String nonce() {
        byte[] bytes = new byte[6];
        random.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private List<ShardRow> rows(RowSet<Row> rows) {
        return rows.stream()
                .map(row -> new ShardRow(
                        new Generation(
                                installation.namespace(),
                                row.getInteger("id"),
                                row.getLong("epoch"),
                                row.getString("nonce")),
                        row.getLong("last_seq"),
                        row.getString("replid"),
                        row.getLong("restored"),
                        Set.of(row.getArrayOfUUIDs("aside"))))
                .toList();
    }
}
