package dev.hongbao.engine;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Mode.SettlementListener;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.engine.Quarantine.Mark;
import dev.hongbao.store.postgres.SqlState;
import io.vertx.core.Future;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.SqlClient;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles batches, each in one transaction. If Postgres refuses one permanently, the guilty packets and draws are found by trials
 * and set aside, so that the rest of their shard settles. Trials are undone, and the shard's cursor fences every step. Confined
 * to the persistence verticle's event loop.
 */
final class BatchSettler {
    private static final Logger LOG = LoggerFactory.getLogger(BatchSettler.class);

    /** Items of one settlement: enough for a cheap commit, few enough for an early first answer. */
    static final int MAX_ITEMS = 2048;

    /** Refusals of one statement until it counts as permanent. */
    private static final int REFUSALS = 3;

    /** More units in a minute are no poison: Postgres or this server has another fault. */
    private static final int MOST = 5;

    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Loop loop;
    private final List<SqlClient> writers;
    private final Map<String, Settler> settlers = new HashMap<>();
    private final Quarantine quarantine;
    private final SettlementListener listener;
    private final JournalMetrics metrics;
    private final Map<Integer, Refused> refused = new HashMap<>();
    private final Deque<Long> setAsideNanos = new ArrayDeque<>();
    private @Nullable Long stoppedNanos;

    /** The equal refusals at one place of a shard's journal. */
    private record Refused(Generation generation, long fromSeq, String sqlState, int times) {}

    /**
     * @param writers connections with pipelined statements; each gets a part of the shards
     * @param quarantine is informed of units that are set aside
     * @param listener is informed of every settlement
     */
    BatchSettler(
            Loop loop,
            List<SqlClient> writers,
            List<Settler> settlers,
            Quarantine quarantine,
            SettlementListener listener,
            JournalMetrics metrics) {
        this.loop = loop;
        this.writers = List.copyOf(writers);
        settlers.forEach(each -> this.settlers.put(each.format().verb(), each));
        this.quarantine = quarantine;
        this.listener = listener;
        this.metrics = metrics;
    }

    SqlClient writer(int shard) {
        return writers.get(shard % writers.size());
    }

    /** Looks up what the settlement needs. */
    Future<Settler.Settlement> prepare(SettlementBatch batch) {
        Settler settler = settlers.get(batch.verb());
        return settler == null || batch.items().isEmpty()
                ? Future.succeededFuture(
                        (connection, moves) -> moves.moveOnly(connection).map(settler == null ? 1 : 0))
                : settler.prepare(batch.items());
    }

    /** Sends a prepared settlement. @return the batch that was settled in the end; fails if it has to be tried again unchanged */
    Future<SettlementBatch> send(SettlementBatch batch, Settler.Settlement settlement, SqlClient writer) {
        return measured(batch, settlement, writer).map(batch::settled).recover(fault -> refused(batch, fault));
    }

    /**
     * Settles a batch of one shard for its recovery, like the loop.
     *
     * @return the number of void items
     */
    Future<Integer> settle(SettlementBatch batch) {
        return attempt(batch).recover(fault -> refused(batch, fault).map(SettlementBatch::voids));
    }

    /** One transaction, for a batch of one shard. */
    private Future<Integer> attempt(SettlementBatch batch) {
        return prepare(batch)
                .compose(settlement ->
                        measured(batch, settlement, writer(batch.shards().get(0))));
    }

    private Future<Integer> measured(SettlementBatch batch, Settler.Settlement settlement, SqlClient writer) {
        long begun = loop.nanos();
        return settlement
                .send(writer, batch.moves())
                .onSuccess(voids -> {
                    metrics.settlement.record(loop.nanos() - begun, TimeUnit.NANOSECONDS);
                    metrics.batchSize.record(batch.size());
                    metrics.voids.increment(voids);
                    listener.settled();
                })
                .onFailure(fault -> listener.uncertain());
    }

    /**
     * Handles a refused batch. At the third equal refusal of a single shard, the culprits are set aside and the rest is settled.
     *
     * @return fails with {@code fault} if the batch has to be tried again unchanged
     */
    private Future<SettlementBatch> refused(SettlementBatch batch, Throwable fault) {
        if (!SqlState.isPoison(fault) || batch.moves().moves().size() != 1 || !isThird(batch, (PgException) fault)) {
            return Future.failedFuture(fault);
        }
        return mayGoOn(1, fault) ? cure(batch, new LinkedHashMap<>()) : Future.failedFuture(fault);
    }

    private boolean isThird(SettlementBatch batch, PgException fault) {
        CursorMoves.Move move = batch.moves().moves().get(0);
        Refused now = new Refused(move.generation(), move.fromSeq(), fault.getSqlState(), 1);
        int shard = move.generation().shard();
        int times = refused.merge(
                        shard,
                        now,
                        (before, again) -> before.equals(
                                        new Refused(again.generation, again.fromSeq, again.sqlState, before.times))
                                ? new Refused(again.generation, again.fromSeq, again.sqlState, before.times + 1)
                                : again)
                .times();
        return times >= REFUSALS;
    }

    /** Once too many are found, none is set aside until a minute has passed without a refusal. */
    private boolean mayGoOn(int more, Throwable fault) {
        long now = loop.nanos();
        setAsideNanos.removeIf(at -> now - at > MINUTE_NANOS);
        boolean stopped = stoppedNanos != null && now - stoppedNanos < MINUTE_NANOS;
        if (!stopped && setAsideNanos.size() + more <= MOST) {
            stoppedNanos = null;
            return true;
        }
        if (!stopped) {
            LOG.error(
                    "Postgres refuses more than {} packets and draws in a minute: no more are set aside, and their shards"
                            + " wait until the cause is repaired: {}",
                    MOST,
                    fault.getMessage());
        }
        stoppedNanos = now;
        return false;
    }

    private Future<SettlementBatch> cure(SettlementBatch batch, Map<Quarantine.Unit, Mark> culprits) {
        List<Quarantine.Unit> rest = batch.units().stream()
                .filter(unit -> !culprits.containsKey(unit))
                .toList();
        return trial(batch, rest).compose(fault -> {
            if (fault == null) {
                return setAside(batch, culprits);
            }
            if (!mayGoOn(culprits.size() + 1, fault)) {
                return Future.failedFuture(fault);
            }
            return find(batch, rest, 0, rest.size())
                    .compose(bad -> trial(batch, rest.subList(0, bad)).compose(again -> {
                        if (again != null) { // else the cause has ended during the trials
                            String reason = String.valueOf(again.getErrorMessage());
                            Mark mark = new Mark(batch.shards().get(0), again.getSqlState(), reason);
                            culprits.put(rest.get(bad - 1), mark);
                        }
                        return cure(batch, culprits);
                    }));
        });
    }

    /** The number of units up to the first culprit: the first {@code good} units settle, the first {@code bad} do not. */
    private Future<Integer> find(SettlementBatch batch, List<Quarantine.Unit> units, int good, int bad) {
        if (bad - good <= 1) {
            return Future.succeededFuture(bad);
        }
        int middle = (good + bad) / 2;
        return trial(batch, units.subList(0, middle))
                .compose(refusal ->
                        refusal == null ? find(batch, units, middle, bad) : find(batch, units, good, middle));
    }

    /** Null if these units of the batch can be settled, else the refusal. Fails if that is unknown. */
    private Future<@Nullable PgException> trial(SettlementBatch batch, List<Quarantine.Unit> units) {
        if (units.isEmpty()) {
            return Future.succeededFuture(null);
        }
        return attempt(batch.trial(units)).transform(tried -> {
            Throwable fault = tried.cause();
            if (SqlState.isUndone(fault)) {
                return Future.succeededFuture(null);
            }
            return SqlState.isPoison(fault)
                    ? Future.succeededFuture((PgException) fault)
                    : Future.failedFuture(fault == null ? new IllegalStateException("a trial was settled") : fault);
        });
    }

    private Future<SettlementBatch> setAside(SettlementBatch batch, Map<Quarantine.Unit, Mark> culprits) {
        SettlementBatch rest = culprits.isEmpty() ? batch : batch.without(culprits);
        return attempt(rest).map(voids -> {
            refused.remove(batch.shards().get(0));
            culprits.forEach((unit, mark) -> {
                setAsideNanos.add(loop.nanos());
                quarantine.wasSetAside(unit, mark);
            });
            return rest.settled(voids);
        });
    }

    /** Journal entries of one verb, from any number of shards, that one statement settles. Not thread-safe. */
    static final class SettlementBatch {
        private final String verb;
        private final CursorMoves moves;
        private final List<JournalItem> items = new ArrayList<>();
        private int size;
        private int voids;

        SettlementBatch(String verb) {
            this(verb, new CursorMoves());
        }

        private SettlementBatch(String verb, CursorMoves moves) {
            this.verb = verb;
            this.moves = moves;
        }

        String verb() {
            return verb;
        }

        CursorMoves moves() {
            return moves;
        }

        /** The items to settle; the other ones are set aside. */
        List<JournalItem> items() {
            return items;
        }

        int size() {
            return size;
        }

        private SettlementBatch settled(int voidItems) {
            voids = voidItems;
            return this;
        }

        /** The number of void items, once it is settled. */
        int voids() {
            return voids;
        }

        List<Integer> shards() {
            return moves.moves().stream().map(move -> move.generation().shard()).toList();
        }

        /** The packets or draws of its items, in the order of the journal. */
        List<Quarantine.Unit> units() {
            Set<Quarantine.Unit> units = new LinkedHashSet<>();
            items.forEach(item -> units.add(item.unit()));
            return List.copyOf(units);
        }

        /** @param aside the units of the entry's shard that are set aside */
        void add(JournalEntry entry, Set<UUID> aside) {
            size += entry.size();
            if (aside.isEmpty()) {
                items.addAll(entry.items());
                return;
            }
            for (JournalItem item : entry.items()) {
                if (aside.contains(item.unit().id())) {
                    moves.aside().keep(verb, item);
                } else {
                    items.add(item);
                }
            }
        }

        void move(Generation generation, long fromSeq, long toSeq) {
            moves.add(generation, fromSeq, toSeq);
        }

        /** A trial settlement of some units. It is undone at its end, and shows whether they can be settled. */
        SettlementBatch trial(Collection<Quarantine.Unit> some) {
            SettlementBatch trial = new SettlementBatch(verb, moves.undone());
            for (JournalItem item : items) {
                if (some.contains(item.unit())) {
                    trial.items.add(item);
                    trial.size += item.size();
                }
            }
            return trial;
        }

        /** A copy of this batch that sets the culprits aside. */
        SettlementBatch without(Map<Quarantine.Unit, Mark> culprits) {
            SettlementBatch rest = new SettlementBatch(verb, moves.again());
            rest.size = size;
            Quarantine.SetAside aside = rest.moves.aside();
            aside.keepAll(moves.aside());
            culprits.forEach(aside::mark);
            for (JournalItem item : items) {
                if (culprits.containsKey(item.unit())) {
                    aside.keep(verb, item);
                } else {
                    rest.items.add(item);
                }
            }
            return rest;
        }
    }
}
