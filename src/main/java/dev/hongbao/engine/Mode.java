package dev.hongbao.engine;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.Uuids;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One use of the shards, such as claims of packets or plays of draws. It is everything that the engine knows of the use; services
 * and APIs are the mode's own. Immutable; its parts state their own concurrency.
 *
 * @param settlers settle the items that its scripts write into the journal
 * @param loader writes the open units into a new generation
 * @param tasks the periodic work of a shard's owner
 */
public record Mode(Traits traits, List<Settler> settlers, ShardLoader loader, List<OwnerTask> tasks) {
    public Mode {
        settlers = List.copyOf(settlers);
        tasks = List.copyOf(tasks);
    }

    /**
     * The parts that need no running server: commands use them, too.
     *
     * @param scripts the names of its scripts, {@code lua/<name>.lua}
     * @param keys the names of its keys in Redis
     * @param settlers makes settlers of its items on connections of the caller
     * @param comparison compares its keys to Postgres and the journal
     */
    public record Traits(
            List<String> scripts,
            Keys keys,
            Function<Pool, List<Settler>> settlers,
            RedisComparison.Factory comparison) {
        public Traits {
            scripts = List.copyOf(scripts);
        }
    }

    @FunctionalInterface
    public interface Keys {
        /** The keys that a packet or draw with this id has in a generation, if it belongs to this mode. */
        List<String> of(Generation generation, UUID unit);

        static Keys of(Collection<Traits> modes) {
            return (generation, unit) -> modes.stream()
                    .flatMap(mode -> mode.keys().of(generation, unit).stream())
                    .toList();
        }
    }

    /** Periodic work that only a shard's owner does, such as closing expired units or planning the next ones. */
    public interface OwnerTask {
        /**
         * Its work in Postgres: rows as SQL names them after {@code from}, for the shards {@code $1::smallint[]}, in the order of an index, so
         * that the planner reads no others. The task runs at a tick that finds a row. Null for work that begins elsewhere: the task runs at
         * every tick.
         */
        default @Nullable String work() {
            return null;
        }

        /** A task that runs while Postgres has such rows; see {@link #work}. */
        static OwnerTask whileAny(String rows, OwnerTask task) {
            return new OwnerTask() {
                @Override
                public String work() {
                    return rows;
                }

                @Override
                public Future<Void> run(List<Integer> shards, RedisLinks redis) {
                    return task.run(shards, redis);
                }
            };
        }

        /**
         * Does all due work. Called on the persistence verticle's event loop, never twice at a time. A failure is logged, and the
         * task is called again.
         *
         * @param shards the owned shards without a recovery; may be empty only for a task without {@link #work}
         * @param redis the owner's links
         */
        Future<Void> run(List<Integer> shards, RedisLinks redis);

        /**
         * Runs the steps in order. A failed step does not stop the later ones.
         *
         * @return fails with the first failure, after the last step
         */
        static Future<Void> inTurn(List<Supplier<Future<Void>>> steps) {
            Future<Void> done = Future.succeededFuture();
            for (Supplier<Future<Void>> step : steps) {
                Future<Void> before = done;
                done = before.transform(any -> step.get()).compose(ran -> before);
            }
            return done;
        }
    }

    /** Writes a shard's open units from Postgres into a new generation's keys: the fourth step of recovery. */
    public interface ShardLoader {
        /**
         * Loads the shard. The generation's scripts are loaded later, so the keys may be written in pages. Called on the persistence
         * verticle's event loop.
         */
        Future<Void> load(Pool pool, RedisLink redis, Generation generation);

        /**
         * Reads rows for a generation's keys page by page, so that a shard of any size loads in bounded memory. Calls {@code write} with
         * each page in order, the next one after its future succeeds; an empty result gives one empty page. Before each other page it
         * checks that the generation is still current.
         *
         * @return fails if the query or a write fails, or if another generation has replaced this one
         */
        static Future<Void> each(
                Pool pool,
                Generation generation,
                String sql,
                Tuple parameters,
                Function<RowSet<Row>, Future<Void>> write) {
            return pool.withTransaction(tx -> Pages.ofQuery(
                    tx,
                    sql,
                    parameters,
                    rows -> rows.size() == 0
                            ? write.apply(rows)
                            : tx.preparedQuery("select from shard where id = $1 and epoch = $2 and nonce = $3")
                                    .execute(Tuple.of(
                                            (short) generation.shard(), generation.epoch(), generation.nonce()))
                                    .compose(standing -> standing.rowCount() == 1
                                            ? write.apply(rows)
                                            : Future.failedFuture(new IllegalStateException(
                                                    generation + " was replaced while it was loaded")))));
        }

        /** Returns the generation's keys that are obsolete: by Postgres their units are over. */
        default Future<List<String>> over(Pool pool, Generation generation, List<String> keys) {
            return Future.succeededFuture(List.of());
        }

        /**
         * Returns the obsolete ones of the keys that are a prefix and an id. Other keys stay.
         *
         * @param sql returns the ids that are over, in its first column; its parameter is an array of ids
         */
        static Future<List<String>> over(Pool pool, String sql, String prefix, List<String> keys) {
            Map<UUID, String> byId = new HashMap<>();
            for (String key : keys) {
                UUID id = key.startsWith(prefix) ? Uuids.parse(key.substring(prefix.length())) : null;
                if (id != null) {
                    byId.put(id, key);
                }
            }
            if (byId.isEmpty()) {
                return Future.succeededFuture(List.of());
            }
            return pool.preparedQuery(sql)
                    .execute(Tuple.tuple().addArrayOfUUID(byId.keySet().toArray(UUID[]::new)))
                    .map(rows -> Rows.list(rows, row -> Objects.requireNonNull(byId.get(row.getUUID(0)))));
        }
    }

    /**
     * Compares a shard in Redis to its settled state in Postgres and its journal. Covers one mode's keys. One use, on the link's
     * event loop.
     */
    public interface RedisComparison {
        /**
         * Compares. A difference in {@code wrong} is an error even while the shard is at work.
         *
         * @param before the unsettled items of the journal, in its order; other modes are ignored
         * @param later reads the journal again
         */
        Future<Differences> differences(List<JournalItem> before, Supplier<Future<List<JournalItem>>> later);

        /**
         * The differences, one sentence each.
         *
         * @param missing keys of open packets, draws and campaigns that Redis lacks: lost, or not loaded yet. The first script that
         *     needs one reports it, and the shard is recovered before the script grants anything
         * @param wrong keys with other contents than expected
         */
        record Differences(List<String> missing, List<String> wrong) {
            public Differences {
                missing = List.copyOf(missing);
                wrong = List.copyOf(wrong);
            }

            /** Counts all differences as missing: none of them is an error. */
            public Differences excused() {
                return new Differences(
                        Stream.concat(missing.stream(), wrong.stream()).toList(), List.of());
            }
        }

        interface Factory {
            RedisComparison of(Pool pool, RedisLink redis, Generation generation);
        }
    }

    /** Settles the journal's items of one verb into Postgres. Called on the persistence verticle's event loop. */
    public interface Settler {
        JournalItem.Format format();

        /**
         * Looks up the facts that a settlement of the items needs.
         *
         * @return fails if a store did not answer
         */
        Future<Settlement> prepare(List<JournalItem> items);

        @FunctionalInterface
        interface Settlement {
            /**
             * Settles the items in the order given, in one statement that first moves the cursors; every effect depends on that move.
             * The statement is sent before this returns, so settlements happen in the order of the calls. Informs the waiting callers
             * after the commit.
             *
             * @param moves the cursors, and the journal entries they pass
             * @return the number of void items; fails if the statement failed or its outcome is unknown
             */
            Future<Integer> send(SqlClient writer, CursorMoves moves);
        }
    }

    /**
     * Learns how the writer's settlements end, of every kind. It is for readers of Postgres; the facts themselves come from the
     * settlers. Called on the persistence verticle's event loop.
     */
    public interface SettlementListener {
        /** A settlement was committed. */
        void settled();

        /** A settlement failed, or its outcome is unknown. The facts of an unknown one are never published. */
        void uncertain();

        /** Its periodic work for the owner of a shard. */
        List<OwnerTask> ownerTasks();
    }
}
