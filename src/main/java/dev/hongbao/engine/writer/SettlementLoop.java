package dev.hongbao.engine.writer;

import dev.hongbao.engine.journal.CursorMoves;
import dev.hongbao.engine.journal.JournalReader;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.journal.QuarantineUnit;
import dev.hongbao.engine.journal.SettlementBatch;
import dev.hongbao.engine.journal.SettlementListener;
import dev.hongbao.engine.journal.Settler;
import dev.hongbao.engine.postgres.SqlState;
import dev.hongbao.engine.redis.RedisFault;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.ShardStore;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.SqlClient;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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

    private final ShardLog[] logs;
    private final RedisLinks redis;
    private final ShardStore store;
    private final JournalReader reader;
    private final Map<String, Settler> settlers;
    private final JournalMetrics metrics;
    private final ShardFaults faults;
    private final Poison poison;
    private final SettlementListener listener;
    private final SettledAlone alone = new SettledAlone();

    /** All shards, on the first connection. */
    private final SettlementLane whole;

    /** The parts of the shards, each on a connection of its own. */
    private final List<SettlementLane> parts;

    /** Handles faults that keep a shard from settling. */
    interface ShardFaults {
        /** The shards' cursors are unknown. They are suspended, and resume from their rows in Postgres. */
        void uncertain(Collection<Integer> shards, boolean soon);

        /** Entries are missing in the journal. */
        void gap(int shard);

        /** The journal contained trimmed entries again: what it accepted for them differs from the settled facts. */
        void wentBack(Generation generation);

        /** An accepted entry of a generation was void: Redis contradicts Postgres. */
        void contradicted(Generation generation);

        /** Units were set aside: their keys are removed, so that no script accepts more of them. */
        void setAside(Generation generation, Collection<UUID> units);

        /** Redis answered with an impossible error. */
        void faulty(int shard, String why);
    }

    /**
     * @param writers connections with pipelined statements; each gets a part of the shards
     * @param settlers by verb
     * @param maxItems limit of one settlement
     */
    SettlementLoop(
            ShardLog[] logs,
            RedisLinks redis,
            List<SqlClient> writers,
            ShardStore store,
            JournalReader reader,
            Map<String, Settler> settlers,
            int maxItems,
            JournalMetrics metrics,
            ShardFaults faults,
            Quarantine quarantine,
            SettlementListener listener) {
        this.logs = logs;
        this.redis = redis;
        this.store = store;
        this.reader = reader;
        this.settlers = Map.copyOf(settlers);
        this.metrics = metrics;
        this.faults = faults;
        this.listener = listener;
        this.poison = new Poison(this::attempt, quarantine, System::nanoTime);
        this.whole = new SettlementLane(writers.get(0), List.of(logs), alone, maxItems);
        this.parts = IntStream.range(0, writers.size())
                .mapToObj(part -> new SettlementLane(
                        writers.get(part),
                        Stream.of(logs)
                                .filter(log -> log.shard() % writers.size() == part)
                                .toList(),
                        alone,
                        maxItems))
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
        Future.succeededFuture(batch).compose(this::prepare).onComplete(prepared -> {
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
                .compose(ready -> measured(batch, ready, lane.writer()))
                .map(voids -> new Poison.Outcome(batch, voids))
                .recover(fault -> poison.refused(batch, fault))
                .onComplete(done -> {
                    lane.ended();
                    if (done.succeeded()) {
                        settled(done.result().batch(), done.result().voids());
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

    private Future<Settler.Settlement> prepare(SettlementBatch batch) {
        Settler settler = settlers.get(batch.verb());
        return settler == null || batch.items().isEmpty()
                ? Future.succeededFuture(
                        (connection, moves) -> moves.moveOnly(connection).map(settler == null ? 1 : 0))
                : settler.prepare(batch.items());
    }

    private Future<Integer> measured(SettlementBatch batch, Settler.Settlement settlement, SqlClient writer) {
        long begun = System.nanoTime();
        return settlement
                .send(writer, batch.moves())
                .onSuccess(voids -> {
                    metrics.settlement.record(System.nanoTime() - begun, TimeUnit.NANOSECONDS);
                    metrics.batchSize.record(batch.size());
                    metrics.voids.increment(voids);
                    listener.settled();
                })
                .onFailure(fault -> listener.uncertain());
    }

    /**
     * Settles a batch for recovery, like the loop itself, on one of its connections.
     *
     * @return the number of void items
     */
    Future<Integer> settle(SettlementBatch batch) {
        return attempt(batch).recover(fault -> poison.refused(batch, fault).map(Poison.Outcome::voids));
    }

    /** One transaction. */
    private Future<Integer> attempt(SettlementBatch batch) {
        return prepare(batch).compose(settlement -> measured(batch, settlement, writerOf(batch)));
    }

    /** For a batch of one shard: the connection of its part. */
    private SqlClient writerOf(SettlementBatch batch) {
        return parts.get(batch.shards().get(0) % parts.size()).writer();
    }

    private void settled(SettlementBatch batch, int voids) {
        for (CursorMoves.Move move : batch.moves().moves()) {
            ShardLog log = logs[move.generation().shard()];
            alone.settled(log.shard());
            log.settledUpTo(move.generation(), move.toSeq());
            setAside(log, move.generation(), batch.moves().aside().marks().keySet());
            trim(log);
            if (voids > 0) {
                faults.contradicted(move.generation());
            }
        }
    }

    /** Later items of these units are kept, see {@link ShardLog#take}. */
    private void setAside(ShardLog log, Generation generation, Collection<QuarantineUnit> units) {
        if (!units.isEmpty() && log.generation().equals(generation)) {
            units.forEach(log::setAside);
            faults.setAside(generation, units.stream().map(QuarantineUnit::id).toList());
        }
    }

    /** Trims the journals whose last trim failed. */
    void trimLeftovers() {
        for (ShardLog log : logs) {
            if (log.wantsTrim()) {
                trim(log);
            }
        }
    }

    /** Exactly: approximate trimming leaves whole nodes of the stream behind. A later tick repeats a failed trim. */
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
                        faults.wentBack(generation);
                    }
                });
    }

    /** The outcome is unknown: the cursors in Postgres decide, and the journals are read again from there. */
    private void failed(SettlementBatch batch, Throwable fault) {
        metrics.failures.increment();
        boolean soon =
                SqlState.isRetryable(fault) || SqlState.isStaleCursor(fault) || SqlState.isUnawareOfQuarantine(fault);
        if (SqlState.isCancelled(fault)) {
            alone.tookTooLong(batch.shards());
        } else if (SqlState.isRefusal(fault) && !soon) {
            alone.refused(batch.shards(), !SqlState.isPoison(fault));
        }
        if (soon) {
            LOG.info("settlement is repeated: {}", fault.getMessage());
        } else if (SqlState.isLocked(fault)) {
            LOG.warn("settlement of {} items waited too long for a lock, trying again", batch.size());
        } else {
            LOG.error("settlement of {} items failed: {}", batch.size(), fault.toString());
        }
        faults.uncertain(batch.shards(), soon);
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
                            faults.gap(generation.shard());
                        }
                        pump(); // also after an empty page: an entry may have come over the bus too early meanwhile
                        return;
                    }
                    log.suspectMore(); // read again at the next tick
                    if (RedisFault.is(read.cause(), RedisFault.Kind.ERROR) && log.incarnation() == incarnation) {
                        faults.faulty(
                                generation.shard(),
                                "the journal cannot be read: " + read.cause().getMessage());
                    }
                });
    }

    /** Suspects that every journal holds more, as at every tick. */
    void suspectMore() {
        List.of(logs).forEach(ShardLog::suspectMore);
    }
}
