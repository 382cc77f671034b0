package dev.hongbao.engine.shard;

import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** The shards' rows in Postgres: generations and cursors, where their truth is. Thread-safe. */
public final class ShardStore {
    private static final String ROW = "select id, epoch, nonce, last_seq, replid, restored,"
            + " array(select q.id from quarantine_unit as q where q.shard = shard.id) as aside from shard ";

    private final Pool pool;
    private final Pool lengthy;
    private final Installation installation;
    private final SecureRandom random = new SecureRandom();

    /**
     * One shard's row.
     *
     * @param lastSeq the cursor: the last journal entry settled in the generation
     * @param replid Redis' master_replid when the generation was drawn; empty before the first
     * @param restored the latest epoch drawn since Postgres had gone back in time; 0 for none
     * @param aside its packets and draws that are set aside; some may be missing that were set aside at this moment, which the
     *     settlement then hears of
     */
    public record ShardRow(Generation generation, long lastSeq, String replid, long restored, Set<UUID> aside) {
        public ShardRow {
            aside = Set.copyOf(aside);
        }
    }

    public ShardStore(Pool pool, Installation installation) {
        this(pool, pool, installation);
    }

    /** @param lengthy gives a statement minutes: after a restored backup a generation begins every group's feed anew */
    public ShardStore(Pool pool, Pool lengthy, Installation installation) {
        this.pool = pool;
        this.lengthy = lengthy;
        this.installation = installation;
    }

    /** Whose shards they are. */
    public Installation installation() {
        return installation;
    }

    /**
     * Fixes the number of shards at the very first start; a no-op later.
     *
     * @return the number of shards, which may differ from {@code wanted} then
     */
    public Future<Integer> establish(int wanted) {
        return pool.preparedQuery("insert into shard (id) select generate_series(0, $1::integer - 1)"
                        + " where not exists (select from shard) on conflict do nothing")
                .execute(Tuple.of(wanted))
                .compose(done -> pool.query("select count(*) from shard").execute())
                .map(rows -> rows.iterator().next().getInteger(0));
    }

    /** All shards, by id. */
    public Future<List<ShardRow>> readAll() {
        return pool.query(ROW + "order by id").execute().map(this::rows);
    }

    /**
     * The rows of some shards, read with a lock: a settlement whose commit is still under way is waited for, so that its
     * outcome is seen. A send, which only keeps the generation as it is, is not.
     */
    public Future<List<ShardRow>> readSettled(SqlClient client, Collection<Integer> shards) {
        return readLocked(client, shards, "");
    }

    /** The same of one shard, on a connection of this store's own. */
    public Future<ShardRow> readSettled(int shard) {
        return readSettled(pool, List.of(shard)).map(rows -> rows.get(0));
    }

    /** As the first, and nobody waits: a row that somebody holds is left out. */
    public Future<List<ShardRow>> readIfSettled(SqlClient client, Collection<Integer> shards) {
        return readLocked(client, shards, " skip locked");
    }

    private Future<List<ShardRow>> readLocked(SqlClient client, Collection<Integer> shards, String otherwise) {
        Short[] ids = shards.stream().map(Integer::shortValue).toArray(Short[]::new);
        return client.preparedQuery(ROW + "where id = any ($1) order by id for no key update" + otherwise)
                .execute(Tuple.of(ids))
                .map(this::rows);
    }

    /** See {@link Shards#hold}. */
    Future<Generation> hold(SqlClient tx, int shard) {
        return tx.preparedQuery("select epoch, nonce from shard where id = $1 for key share")
                .execute(Tuple.of((short) shard))
                .map(rows -> rows.iterator().next())
                .map(row ->
                        new Generation(installation.namespace(), shard, row.getLong("epoch"), row.getString("nonce")));
    }

    /**
     * Draws the next generation of a shard, waiting for the sends that read the current one.
     *
     * @param knownEpoch the highest that Redis and the servers know
     * @param wentBack whether Postgres has lost what they know
     * @return the new row; null when another recovery drew one meanwhile, and then it is that recovery's to prepare
     */
    public Future<@Nullable ShardRow> drawNext(Generation current, long knownEpoch, boolean wentBack, String replid) {
        String nonce = nonce();
        return (wentBack ? lengthy : pool)
                .preparedQuery("select draw_generation($1, $2, $3, $4, $5, $6, $7)")
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

    /** Asks the owner of a shard to look at it; see {@link RecoveryRequest}. */
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
        return StreamSupport.stream(rows.spliterator(), false)
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
