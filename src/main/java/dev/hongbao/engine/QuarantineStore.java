package dev.hongbao.engine;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.JournalEntry.JournalReader;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An operator's work on units that are set aside. It is safe beside running servers: they notice within a second and load the
 * returned units. Every call is one transaction, and repeating it changes nothing.
 */
public final class QuarantineStore {
    private static final String LIST = """
            select q.id, q.kind, q.shard, q.since, q.sqlstate, q.reason,
                   (select count(*) from quarantine as e where e.unit = q.id) as entries,
                   (select string_agg(a.balance || ' ' || a.asset, ', ' order by a.id)
                    from account as a where a.owner = q.id::text and a.kind in ('escrow', 'hold')) as held
            from quarantine_unit as q order by q.since, q.id
            """;

    /** The owner of the shard settles nothing meanwhile; sends go on. */
    private static final String LOCK = """
            select s.epoch, s.nonce from shard as s join quarantine_unit as q on q.shard = s.id
            where q.id = $1 for no key update of s
            """;

    /** No Redis has this replication id: whoever owns the shard recovers it, and that loads the unit. */
    private static final String BRING_BACK = """
            with back as (delete from quarantine_unit where id = $1 returning shard)
            update shard as s set replid = '-' from back where s.id = back.shard
            """;

    /** Entries settled by one statement. */
    private static final int PAGE = 256;

    private final Pool pool;
    private final ShardStore shards;
    private final Mode.Keys keys;
    private final Map<String, Settler> settlers = new HashMap<>();

    /** @param keys of all modes */
    public QuarantineStore(Pool pool, ShardStore shards, List<Settler> settlers, Mode.Keys keys) {
        this.pool = pool;
        this.shards = shards;
        this.keys = keys;
        settlers.forEach(settler -> this.settlers.put(settler.format().verb(), settler));
    }

    /**
     * A packet or draw that is set aside.
     *
     * @param entries the number of kept entries
     * @param held the balance of its accounts in minor units, as {@code 500 CNY}; empty for none
     */
    public record Listed(Quarantine.Unit unit, Quarantine.Mark mark, OffsetDateTime since, long entries, String held) {}

    /** All units that are set aside, the longest first. */
    public Future<List<Listed>> list() {
        return pool.query(LIST)
                .execute()
                .map(rows -> rows.stream()
                        .map(row -> new Listed(
                                new Quarantine.Unit(row.getString("kind"), row.getUUID("id")),
                                new Quarantine.Mark(
                                        row.getInteger("shard"), row.getString("sqlstate"), row.getString("reason")),
                                row.getOffsetDateTime("since"),
                                row.getLong("entries"),
                                row.getString("held") == null ? "" : row.getString("held")))
                        .toList());
    }

    /**
     * Settles a unit's kept entries in their order, and brings the unit back.
     *
     * @return the number of entries; -1 if the unit is not set aside. If an entry is still refused, fails and changes nothing
     */
    public Future<Integer> replay(UUID unit) {
        return Transactions.run(
                pool,
                tx -> lock(tx, unit)
                        .compose(there -> there == null ? Future.succeededFuture() : take(tx, unit))
                        .compose(kept -> kept == null
                                ? Future.succeededFuture(-1)
                                : settle(tx, kept, 0).map(done -> kept.size())));
    }

    /** @param kept rows with {@code n}, {@code verb} and {@code item} */
    private Future<Void> settle(SqlConnection tx, List<Row> kept, int from) {
        if (from == kept.size()) {
            return Future.succeededFuture();
        }
        String verb = kept.get(from).getString("verb");
        Settler settler = settlers.get(verb);
        if (settler == null) {
            return Future.failedFuture(new IllegalStateException("the quarantine holds an entry of verb " + verb));
        }
        List<JournalItem> items = new ArrayList<>();
        int to = from;
        for (;
                to < kept.size()
                        && to - from < PAGE
                        && kept.get(to).getString("verb").equals(verb);
                to++) {
            JournalItem item = settler.format().read(kept.get(to).getString("item"));
            if (item == null) {
                return Future.failedFuture(new IllegalStateException(
                        "entry " + kept.get(to).getLong("n") + " of the quarantine cannot be read"));
            }
            items.add(item);
        }
        int next = to;
        return settler.prepare(items)
                .compose(settlement -> settlement.send(tx, CursorMoves.none()))
                .compose(voids -> settle(tx, kept, next));
    }

    /**
     * Drops a unit's kept entries and brings the unit back: it continues from its settled state. None of the entries was answered
     * as settled. Entries in the journal would not follow from that state, so this call requires that there are none.
     *
     * @param redis to read the journal
     * @return the number of entries; -1 if the unit is not set aside. If the journal still holds entries of it, fails and changes
     *     nothing
     */
    public Future<Integer> drop(UUID unit, RedisLinks redis) {
        return pool.preparedQuery("select shard from quarantine_unit where id = $1")
                .execute(Tuple.of(unit))
                .compose(rows -> rows.size() == 0
                        ? Future.succeededFuture(-1)
                        : shards.readSettled(
                                        pool, List.of(rows.iterator().next().getInteger(0)))
                                .map(read -> read.get(0))
                                .compose(row ->
                                        assertNothingComes(unit, row, redis).compose(none -> drop(unit, row))));
    }

    private Future<Integer> drop(UUID unit, ShardRow row) {
        return Transactions.run(
                pool,
                tx -> lock(tx, unit).compose(current -> {
                    if (current == null) {
                        return Future.succeededFuture(-1);
                    }
                    return current.getLong("epoch") == row.generation().epoch()
                                    && current.getString("nonce")
                                            .equals(row.generation().nonce())
                            ? take(tx, unit).map(kept -> kept == null ? -1 : kept.size())
                            : Future.failedFuture(
                                    new IllegalStateException("its shard was recovered meanwhile: try again"));
                }));
    }

    /**
     * Without the unit's keys no script writes more entries. The live journal is read before the retired one, since recovery
     * renames it.
     */
    private Future<Void> assertNothingComes(UUID unit, ShardRow row, RedisLinks redis) {
        Generation generation = row.generation();
        JournalReader reader = new JournalReader(
                redis, settlers.values().stream().map(Settler::format).toList());
        return redis.unlink(keys.of(generation, unit))
                .compose(gone -> holds(reader, generation, generation.journalKey(), row.lastSeq(), unit))
                .compose(journal -> holds(reader, generation, generation.retiredJournalKey(), row.lastSeq(), unit)
                        .map(retired -> journal || retired))
                .compose(held -> held
                        ? Future.failedFuture(
                                new IllegalStateException(
                                        "the journal still holds entries of it: start a server, or wait until it has settled them"))
                        : Future.succeededFuture());
    }

    private Future<Boolean> holds(JournalReader reader, Generation generation, String key, long after, UUID unit) {
        return reader.read(generation, key, after, JournalReader.PAGE).compose(entries -> {
            if (entries.isEmpty()) {
                return Future.succeededFuture(false);
            }
            boolean held = entries.stream()
                    .flatMap(entry -> entry.items().stream())
                    .anyMatch(item -> item.unit().id().equals(unit));
            return held
                    ? Future.succeededFuture(true)
                    : holds(
                            reader,
                            generation,
                            key,
                            entries.get(entries.size() - 1).seq(),
                            unit);
        });
    }

    private static Future<@Nullable Row> lock(SqlConnection tx, UUID unit) {
        return tx.preparedQuery(LOCK)
                .execute(Tuple.of(unit))
                .map(rows -> rows.size() == 0 ? null : rows.iterator().next());
    }

    /** @return null if another call brought the unit back while this one waited for the lock */
    private static Future<@Nullable List<Row>> take(SqlConnection tx, UUID unit) {
        return tx.preparedQuery("delete from quarantine where unit = $1 returning n, verb, item")
                .execute(Tuple.of(unit))
                .map(rows -> rows.stream()
                        .sorted(Comparator.comparing(row -> row.getLong("n")))
                        .toList())
                .compose(kept -> tx.preparedQuery(BRING_BACK)
                        .execute(Tuple.of(unit))
                        .map(gone -> gone.rowCount() == 0 ? null : kept));
    }
}
