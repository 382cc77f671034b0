package dev.hongbao.journal;

import dev.hongbao.postgres.SqlState;
import dev.hongbao.redis.RedisFault;
import dev.hongbao.redis.RedisLink;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.SqlClient;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles what the live shards' logs hold, one transaction at a time: while one is under way the next gathers, so batches grow
 * with the load and nothing waits on a timer. Confined to the persistence verticle's event loop.
 */
final class SettlingLoop {
    private static final Logger LOG = LoggerFactory.getLogger(SettlingLoop.class);

    private final ShardLog[] logs;
    private final RedisLink redis;
    private final SqlClient writer;
    private final ShardStore store;
    private final JournalReader reader;
    private final Map<String, Settler> settlers;
    private final int maxItems;
    private final JournalMetrics metrics;
    private final Doubts doubts;
    private boolean settling;
    private int firstShard;

    /** Who looks after a shard that cannot settle on. */
    interface Doubts {
        /** Nobody knows how far these shards are settled; they are suspended and resume from what Postgres says. */
        void uncertain(Collection<Integer> shards, boolean soon);

        /** Entries are missing in the journal. */
        void gap(int shard);

        /** An accepted entry was void: Redis says what Postgres does not. */
        void contradicted(int shard);

        /** Redis answered with an error that it never should. */
        void faulty(int shard, String why);
    }

    /**
     * @param writer one connection, used for settlements in order
     * @param settlers by verb
     * @param maxItems that one settlement takes
     */
    SettlingLoop(
            ShardLog[] logs,
            RedisLink redis,
            SqlClient writer,
            ShardStore store,
            JournalReader reader,
            Map<String, Settler> settlers,
            int maxItems,
            JournalMetrics metrics,
            Doubts doubts) {
        this.logs = logs;
        this.redis = redis;
        this.writer = writer;
        this.store = store;
        this.reader = reader;
        this.settlers = Map.copyOf(settlers);
        this.maxItems = maxItems;
        this.metrics = metrics;
        this.doubts = doubts;
    }

    /** Reads and settles whatever waits; called whenever something may. */
    void pump() {
        readJournals();
        if (settling) {
            return;
        }
        SettlementBatch batch = nextBatch();
        if (batch != null) {
            settling = true;
            settle(batch).onComplete(done -> {
                settling = false;
                if (done.succeeded()) {
                    settled(batch, done.result());
                } else {
                    failed(batch, done.cause());
                }
                pump();
            });
        }
    }

    /** Whether nothing is known or suspected that the live shards have not settled. */
    boolean isIdle() {
        return !settling && Stream.of(logs).allMatch(log -> !log.isLive() || log.isQuiet());
    }

    private @Nullable SettlementBatch nextBatch() {
        firstShard = (firstShard + 1) % logs.length;
        String verb = "";
        for (int i = 0; i < logs.length && verb.isEmpty(); i++) {
            verb = logs[(firstShard + i) % logs.length].nextVerb();
        }
        if (verb.isEmpty()) {
            return null;
        }
        SettlementBatch batch = new SettlementBatch(verb);
        for (int i = 0; i < logs.length && batch.size() < maxItems; i++) {
            logs[(firstShard + i) % logs.length].take(verb, maxItems - batch.size(), batch);
        }
        return batch;
    }

    /** One transaction. Also recovery settles through it, so that all settlements share the one connection. */
    Future<Integer> settle(SettlementBatch batch) {
        long begun = System.nanoTime();
        Settler settler = settlers.get(batch.verb());
        Future<Integer> done = settler == null
                ? store.moveCursors(writer, batch.moves()).map(1)
                : settler.settle(writer, batch.moves(), batch.items());
        return done.onSuccess(voids -> {
            metrics.settlement.record(System.nanoTime() - begun, TimeUnit.NANOSECONDS);
            metrics.batchSize.record(batch.size());
            metrics.voids.increment(voids);
        });
    }

    private void settled(SettlementBatch batch, int voids) {
        for (CursorMoves.Move move : batch.moves().moves()) {
            ShardLog log = logs[move.generation().shard()];
            log.settledUpTo(move.generation(), move.toSeq());
            trim(log);
            if (voids > 0) {
                doubts.contradicted(move.generation().shard());
            }
        }
    }

    /** Trims what could not be trimmed before. */
    void trimLeftovers() {
        for (ShardLog log : logs) {
            if (log.wantsTrim()) {
                trim(log);
            }
        }
    }

    /** Exactly: approximate trimming leaves whole nodes of the stream behind. What fails is trimmed at a later tick. */
    private void trim(ShardLog log) {
        Generation generation = log.generation();
        long seq = log.settledSeq();
        redis.send(Request.cmd(Command.XTRIM)
                        .arg(generation.journalKey())
                        .arg("MINID")
                        .arg("=")
                        .arg(generation.entryId(seq + 1)))
                .onSuccess(trimmed -> log.trimmedUpTo(generation, seq));
    }

    /** Nothing is known to be committed: what Postgres says of the cursors decides, and the journal is read again from there. */
    private void failed(SettlementBatch batch, Throwable fault) {
        metrics.failures.increment();
        boolean soon = SqlState.isRetryable(fault) || SqlState.isStaleCursor(fault);
        if (soon) {
            LOG.info("settlement tried again: {}", fault.getMessage());
        } else {
            LOG.error("settlement of {} items failed: {}", batch.size(), fault.toString());
        }
        doubts.uncertain(batch.shards(), soon);
    }

    private void readJournals() {
        for (ShardLog log : logs) {
            if (log.wantsRead() && redis.isConnected()) {
                read(log);
            }
        }
    }

    private void read(ShardLog log) {
        Generation generation = log.generation();
        long incarnation = log.incarnation();
        log.beginRead();
        reader.read(generation, generation.journalKey(), log.tailSeq()).onComplete(read -> {
            log.endRead();
            if (read.succeeded()) {
                if (!log.append(incarnation, read.result())) {
                    doubts.gap(generation.shard());
                }
                pump(); // also when it was empty: an entry may have come over the bus too early meanwhile
                return;
            }
            log.suspectMore(); // read again at the next tick
            if (RedisFault.is(read.cause(), RedisFault.Kind.ERROR) && log.incarnation() == incarnation) {
                doubts.faulty(
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
