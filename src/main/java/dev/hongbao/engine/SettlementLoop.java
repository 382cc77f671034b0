package dev.hongbao.engine;

import dev.hongbao.engine.BatchSettler.SettlementBatch;
import dev.hongbao.engine.JournalEntry.JournalReader;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.store.postgres.SqlState;
import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.SqlClient;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles the entries of the live shards' logs. During a transaction the next one gathers, so batches grow with the load and
 * nothing waits on a timer. Few entries are settled together, on the first connection. For many, the parts of the shards are
 * settled in parallel, each on a connection of its own: Postgres uses one core for a connection. Confined to the persistence
 * verticle's event loop.
 */
final class SettlementLoop {
    private static final Logger LOG = LoggerFactory.getLogger(SettlementLoop.class);

    /** The pause of a shard that was refused even alone; it may have made the others wait for a lock. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * The pause of a shard whose statement took its full time of 8 s: the others settle meanwhile. The shard still settles within
     * five seconds after the cause is repaired.
     */
    private static final long LONG_REST_NANOS = TimeUnit.SECONDS.toNanos(4);

    private final ShardLog[] logs;
    private final RedisLinks redis;
    private final JournalReader reader;
    private final BatchSettler settler;
    private final Mode.Keys keys;
    private final ShardSupervisor supervisor;
    private final JournalMetrics metrics;

    /** All shards, on the first connection. */
    private final SettlementLane whole;

    /** The parts of the shards, each on a connection of its own. */
    private final List<SettlementLane> parts;

    /** @param keys of the units; the keys of a unit that is set aside are removed */
    SettlementLoop(
            ShardLog[] logs,
            RedisLinks redis,
            JournalReader reader,
            BatchSettler settler,
            Mode.Keys keys,
            ShardSupervisor supervisor,
            JournalMetrics metrics) {
        this.logs = logs;
        this.redis = redis;
        this.reader = reader;
        this.settler = settler;
        this.keys = keys;
        this.supervisor = supervisor;
        this.metrics = metrics;
        this.whole = new SettlementLane(settler.writer(0), List.of(logs));
        this.parts = IntStream.range(0, Shards.SETTLEMENTS_AT_ONCE)
                .mapToObj(part -> new SettlementLane(
                        settler.writer(part),
                        Stream.of(logs)
                                .filter(log -> settler.writer(log.shard()) == settler.writer(part))
                                .toList()))
                .toList();
    }

    /** Reads and settles all pending entries. Called after every event that may add some. */
    void pump() {
        readJournals();
        if (parts.stream().anyMatch(SettlementLane::hasMuch)) {
            for (SettlementLane part : parts) {
                if (whole.isIdle()) { // false if the part before has called this method again
                    pump(part);
                }
            }
        } else if (parts.stream().allMatch(SettlementLane::isIdle)) {
            pump(whole);
        }
    }

    private void pump(SettlementLane lane) {
        SettlementBatch batch = lane.next();
        if (batch == null) {
            return;
        }
        // Composed, here and below: an exception becomes a failed future, and the loop goes on.
        Future.succeededFuture(batch).compose(settler::prepare).onComplete(prepared -> {
            lane.prepared();
            if (prepared.succeeded()) {
                send(batch, prepared.result(), lane);
            } else {
                failed(batch, prepared.cause());
            }
            pump();
        });
    }

    private void send(SettlementBatch batch, Settler.Settlement settlement, SettlementLane lane) {
        lane.sent();
        Future.succeededFuture(settlement)
                .compose(ready -> settler.send(batch, ready, lane.writer()))
                .onComplete(done -> {
                    lane.ended();
                    if (done.succeeded()) {
                        settled(done.result());
                    } else {
                        failed(batch, done.cause());
                    }
                    pump();
                });
    }

    /** Whether the live shards have settled every known or suspected entry. */
    boolean isIdle() {
        return whole.isIdle()
                && parts.stream().allMatch(SettlementLane::isIdle)
                && Stream.of(logs).allMatch(log -> !log.isLive() || log.isQuiet());
    }

    private void settled(SettlementBatch batch) {
        for (CursorMoves.Move move : batch.moves().moves()) {
            ShardLog log = logs[move.generation().shard()];
            log.settledUpTo(move.generation(), move.toSeq());
            noteAside(log, move.generation(), batch.moves().aside().marks().keySet());
            trim(log);
            if (batch.voids() > 0) {
                supervisor.contradicted(move.generation());
            }
        }
    }

    /** Later items of these units are kept, see {@link ShardLog#take}. */
    private void noteAside(ShardLog log, Generation generation, Collection<Quarantine.Unit> units) {
        if (!units.isEmpty() && log.generation().equals(generation)) {
            units.forEach(log::setAside);
            removeKeys(generation, units.stream().map(Quarantine.Unit::id).toList());
        }
    }

    /** So that no script accepts more of units that are set aside. */
    private void removeKeys(Generation generation, Collection<UUID> aside) {
        if (!aside.isEmpty()) {
            redis.unlink(aside.stream()
                            .flatMap(unit -> keys.of(generation, unit).stream())
                            .toList())
                    .onFailure(fault -> LOG.info("keys of units that are set aside stay: {}", fault.getMessage()));
        }
    }

    void resumed(ShardRow row) {
        removeKeys(row.generation(), row.aside());
        pump();
    }

    /** Trims all journals again: a trim may have failed, and a Redis that went back in place has settled entries again. */
    void trimAgain() {
        Stream.of(logs).filter(ShardLog::isLive).forEach(this::trim);
    }

    /** Exactly: approximate trimming leaves whole nodes of the stream behind. */
    private void trim(ShardLog log) {
        Generation generation = log.generation();
        long seq = log.settledSeq();
        generation
                .link(redis)
                .send(Request.cmd(Command.XTRIM)
                        .arg(generation.journalKey())
                        .arg("MINID")
                        .arg("=")
                        .arg(generation.entryId(seq + 1)))
                .onSuccess(trimmed -> {
                    if (log.trimmedUpTo(generation, seq, trimmed.toLong())) {
                        supervisor.wentBack(generation);
                    }
                });
    }

    /** The outcome is unknown: the cursors in Postgres decide, and the journals are read again from there. */
    private void failed(SettlementBatch batch, Throwable fault) {
        metrics.failures.increment();
        boolean soon =
                SqlState.isRetryable(fault) || SqlState.isStaleCursor(fault) || SqlState.isUnawareOfQuarantine(fault);
        if (SqlState.isCancelled(fault)) {
            settleAlone(batch.shards(), LONG_REST_NANOS);
        } else if (SqlState.isRefusal(fault) && !soon) {
            settleAlone(batch.shards(), SqlState.isPoison(fault) ? 0 : REST_NANOS); // poison is about to be set aside
        }
        if (soon) {
            LOG.info("settlement is repeated: {}", fault.getMessage());
        } else if (SqlState.isLocked(fault)) {
            LOG.warn("settlement of {} items waited too long for a lock, trying again", batch.size());
        } else {
            LOG.error("settlement of {} items failed: {}", batch.size(), fault.toString());
        }
        supervisor.uncertain(batch.shards(), soon);
    }

    private void settleAlone(List<Integer> shards, long restNanos) {
        shards.forEach(shard -> logs[shard].settleAlone(shards.size() == 1 ? restNanos : 0));
    }

    private void readJournals() {
        for (ShardLog log : logs) {
            if (log.wantsRead() && log.generation().link(redis).isConnected()) {
                read(log);
            }
        }
    }

    private void read(ShardLog log) {
        Generation generation = log.generation();
        long incarnation = log.incarnation();
        log.beginRead();
        reader.read(generation, generation.journalKey(), log.tailSeq(), JournalReader.PAGE)
                .onComplete(read -> {
                    log.endRead();
                    if (read.succeeded()) {
                        if (!log.append(incarnation, read.result())) {
                            supervisor.gap(generation.shard());
                        }
                        pump(); // also after an empty page: an entry may have come over the bus too early meanwhile
                        return;
                    }
                    log.suspectMore(); // read again at the next tick
                    if (RedisFault.is(read.cause(), RedisFault.Kind.ERROR) && log.incarnation() == incarnation) {
                        supervisor.faulty(
                                generation.shard(),
                                "the journal cannot be read: " + read.cause().getMessage());
                    }
                });
    }

    /** Suspects that every journal holds more, as at every tick. */
    void suspectMore() {
        List.of(logs).forEach(ShardLog::suspectMore);
    }

    /**
     * A connection and its shards: selects the next transaction and its time. A large transaction is sent behind the one under way,
     * so that Postgres never waits for us. If the first one fails, the second one's cursor is stale. Confined to the persistence
     * verticle's event loop.
     */
    private static final class SettlementLane {
        private static final int MAX_UNDER_WAY = 2;

        /**
         * With so many waiting items, and no fewer than in the transaction under way, the next one starts at once. Fewer gather,
         * since a commit costs as much for one item.
         */
        private static final int LARGE = 256;

        private final SqlClient writer;
        private final List<ShardLog> shards;
        private boolean preparing;
        private int underWay;
        private int lastSize;
        private int first;

        /** @param shards may be empty */
        SettlementLane(SqlClient writer, List<ShardLog> shards) {
            this.writer = writer;
            this.shards = shards;
        }

        SqlClient writer() {
            return writer;
        }

        boolean isIdle() {
            return !preparing && underWay == 0;
        }

        /** Whether the pending items are worth a connection of their own. */
        boolean hasMuch() {
            return waiting() >= LARGE;
        }

        private int waiting() {
            return shards.stream().mapToInt(ShardLog::pendingItems).sum();
        }

        /** Takes the next batch to prepare; the lane then waits for {@link #prepared}. Null for none. */
        @Nullable
        SettlementBatch next() {
            boolean gathers = underWay > 0 && waiting() < Math.max(LARGE, lastSize);
            if (preparing || underWay == MAX_UNDER_WAY || gathers) {
                return null;
            }
            SettlementBatch batch = take();
            if (batch != null) {
                preparing = true;
                lastSize = batch.size();
            }
            return batch;
        }

        void prepared() {
            preparing = false;
        }

        void sent() {
            underWay++;
        }

        /** Notes the end of a transaction, successful or not. */
        void ended() {
            underWay--;
        }

        private @Nullable SettlementBatch take() {
            for (int tried = 0; tried < shards.size(); tried++) {
                first = (first + 1) % shards.size();
                String verb = shards.get(first).nextVerb();
                if (!verb.isEmpty() && !shards.get(first).rests()) {
                    return batch(verb);
                }
            }
            return null;
        }

        /** A batch of the first shard, and of all others that are not settled alone. */
        private SettlementBatch batch(String verb) {
            SettlementBatch batch = new SettlementBatch(verb);
            int count = shards.get(first).isAlone() ? 1 : shards.size();
            for (int i = 0; i < count && batch.size() < BatchSettler.MAX_ITEMS; i++) {
                ShardLog log = shards.get((first + i) % shards.size());
                if (i == 0 || !log.isAlone()) {
                    log.take(verb, BatchSettler.MAX_ITEMS - batch.size(), batch);
                }
            }
            return batch;
        }
    }
}
