package dev.hongbao.engine;

import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.store.postgres.SqlState;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings suspended shards back: establishes the state of each, recovers the broken ones, and tries again until it succeeds or the
 * shard is lost. At most one attempt a shard is under way. Confined to the persistence verticle's event loop.
 */
final class RecoveryAttempts {
    private static final Logger LOG = LoggerFactory.getLogger(RecoveryAttempts.class);

    private static final long RETRY_MILLIS = 200;

    private static final long GATHER_MILLIS = 500;

    private final Loop loop;
    private final ShardLog[] logs;
    private final WriterConnection writer;
    private final ShardStore store;
    private final Shards shards;
    private final RedisWatch watch;
    private final JournalMetrics metrics;
    private final Pauses pauses;
    private final BitSet underWay = new BitSet();
    private final Gathered doubted = new Gathered((ids, why) -> LOG.warn("recovers the shards {}: {}", ids, why));
    private final Gathered failed =
            new Gathered((ids, why) -> LOG.error("recovery of the shards {} failed, trying again: {}", ids, why));
    private final Gathered recovered = new Gathered((ids, none) -> LOG.info("recovered the shards {}", ids));
    private final BitSet away = new BitSet();
    private final Recovery recovery;
    private final Consumer<ShardRow> resumed;
    private boolean retrying;
    private boolean closed;

    /**
     * @param writer the settlements' connection. Rows are read with a lock, so a settlement that has begun to move a row has
     *     ended
     * @param resumed gets the row of each shard that settles again
     */
    RecoveryAttempts(
            Loop loop,
            ShardLog[] logs,
            WriterConnection writer,
            Shards shards,
            RedisWatch watch,
            Recovery recovery,
            JournalMetrics metrics,
            Consumer<ShardRow> resumed) {
        this.loop = loop;
        this.pauses = new Pauses(loop::nanos);
        this.logs = logs;
        this.writer = writer;
        this.store = shards.store();
        this.shards = shards;
        this.watch = watch;
        this.recovery = recovery;
        this.metrics = metrics;
        this.resumed = resumed;
    }

    /** Ends all retries; current attempts no longer change the logs. Idempotent. */
    void close() {
        closed = true;
    }

    /** Whether an attempt is under way: a stop in its middle would leave the shard without its keys. */
    boolean isBusy() {
        return !underWay.isEmpty();
    }

    /**
     * Recovers a shard's generation before the shard resumes, even if Redis looks healthy.
     *
     * @param atSeq only while the cursor is there; -1 for any cursor
     * @param why for the log
     */
    void doubt(ShardLog log, long atSeq, String why) {
        doubted.add(why, log.shard());
        log.doubt(atSeq);
    }

    /** As {@link Recovery#isOver}. */
    Future<Boolean> isOver(Generation generation, String key) {
        return recovery.isOver(generation, key);
    }

    /** Notes a contradiction as the cause of the shard's next recovery: see {@link Pauses#contradicted}. */
    void contradicted(int shard) {
        pauses.contradicted(shard);
    }

    /** Establishes the state of the suspended ones of these shards, and brings them back. */
    void establish(Collection<Integer> suspended) {
        Map<Integer, Long> incarnations = begin(suspended);
        if (incarnations.isEmpty()) {
            return;
        }
        Set<Integer> looked = incarnations.keySet();
        // A locked row delays neither other shards nor the settlements on the same connection.
        store.readIfSettled(writer.client(), looked)
                .onComplete(writer::looked)
                .compose(rows -> {
                    List<Future<Boolean>> broken = broken(rows);
                    // This server may have been frozen between its reads of Postgres and of Redis. Settlements of
                    // another server in between are no damage, so a row that has moved is checked again.
                    return Future.join(broken)
                            .transform(seen -> broken.stream().anyMatch(RecoveryAttempts::isTrue)
                                    ? store.readIfSettled(writer.client(), looked)
                                    : Future.succeededFuture(rows))
                            .map(again -> {
                                decide(rows, broken, again, incarnations);
                                return null;
                            });
                })
                .onFailure(fault -> unseen(incarnations, fault.toString()));
    }

    /** @param broken for each row, whether it is broken; failed if its Redis does not answer */
    private void decide(
            List<ShardRow> rows, List<Future<Boolean>> broken, List<ShardRow> again, Map<Integer, Long> incarnations) {
        Map<Integer, Long> held = new HashMap<>(incarnations);
        rows.forEach(row -> held.remove(row.generation().shard()));
        if (!held.isEmpty()) {
            unseen(held, "a transaction holds their rows");
        }
        Map<Integer, Long> unseen = new HashMap<>();
        String why = "";
        for (int i = 0; i < rows.size(); i++) {
            ShardRow row = rows.get(i);
            int shard = row.generation().shard();
            long incarnation = incarnations.getOrDefault(shard, -1L);
            if (broken.get(i).failed()) {
                unseen.put(shard, incarnation);
                why = broken.get(i).cause().toString();
                continue;
            }
            away.clear(shard);
            if (!again.contains(row)) {
                finish(shard, incarnation, null);
            } else if (isTrue(broken.get(i)) || logs[shard].isDoubted(row)) {
                recover(row.generation(), incarnation);
            } else {
                finish(shard, incarnation, row);
            }
        }
        if (!unseen.isEmpty()) {
            unseen(unseen, why);
        }
    }

    /** Handles shards whose store does not answer; the others go on. */
    private void unseen(Map<Integer, Long> incarnations, String why) {
        if (!incarnations.keySet().stream().allMatch(away::get)) {
            LOG.warn("cannot read the shards {}, trying again: {}", incarnations.keySet(), why);
        }
        incarnations.forEach((shard, incarnation) -> {
            away.set(shard);
            shards.atStart().failed(shard, why);
            finish(shard, incarnation, null);
        });
    }

    private static boolean isTrue(Future<Boolean> answer) {
        return answer.succeeded() && answer.result();
    }

    /** Begins an attempt for each suspended shard that has none. Returns the shards' incarnations. */
    private Map<Integer, Long> begin(Collection<Integer> suspended) {
        Map<Integer, Long> incarnations = new HashMap<>();
        for (int shard : suspended) {
            if (logs[shard].state() != ShardLog.State.SUSPENDED || underWay.get(shard)) {
                continue;
            }
            if (pauses.holds(shard)) {
                retryLater();
            } else {
                underWay.set(shard);
                incarnations.put(shard, logs[shard].incarnation());
            }
        }
        return incarnations;
    }

    /** For each row, whether the shard cannot continue from it: see {@link RedisWatch} and {@link #remembered}. */
    private List<Future<Boolean>> broken(List<ShardRow> rows) {
        List<Future<Boolean>> inRedis = watch.look(rows);
        List<Future<Boolean>> broken = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            ShardRow row = rows.get(i);
            Future<Boolean> isWell = inRedis.get(i);
            broken.add(watch.trimmedUpTo(row.generation().journalKey())
                    .compose(trimmed -> isWell.map(
                            well -> !well || Math.max(trimmed, remembered(row.generation())) > row.lastSeq())));
        }
        return broken;
    }

    /** The cursor of a generation that this server knows to be committed. Only a Postgres that went back is behind it. */
    private long remembered(Generation generation) {
        ShardLog log = logs[generation.shard()];
        return log.generation().equals(generation) ? log.settledSeq() : -1;
    }

    private void recover(Generation broken, long incarnation) {
        recovery.run(broken, remembered(broken))
                .onSuccess(row -> {
                    metrics.recoveries.increment();
                    LOG.debug("recovered {}", row.generation());
                    if (!shards.atStart().recovered(row.generation())) {
                        recovered.add("", broken.shard());
                    }
                    pauses.over(broken.shard());
                    finish(broken.shard(), incarnation, row);
                })
                .onFailure(fault -> {
                    // A generation that was drawn in vain costs an epoch and a script: the pauses before the next ones
                    // grow.
                    boolean drawn = shards.current(broken.shard()).generation().epoch() > broken.epoch();
                    boolean costs = drawn || SqlState.isLocked(fault) || SqlState.isCancelled(fault);
                    if (pauses.failed(broken.shard(), costs)) {
                        failed.add(fault.toString(), broken.shard());
                    } else {
                        LOG.debug("recovery of {} failed again: {}", broken, fault.toString());
                    }
                    shards.atStart().failed(broken.shard(), fault.toString());
                    finish(broken.shard(), incarnation, null);
                });
    }

    /** Ends an attempt: the shard settles from {@code row}, or is tried again if {@code row} is null. */
    private void finish(int shard, long incarnation, @Nullable ShardRow row) {
        underWay.clear(shard);
        ShardLog log = logs[shard];
        if (row == null || log.incarnation() != incarnation) {
            retryLater();
            return;
        }
        if (!shards.adopt(row).generation().equals(row.generation())) {
            retryLater(); // a later one is known: Postgres went back meanwhile
            return;
        }
        log.resume(row);
        shards.atStart().live(shard);
        resumed.accept(row);
    }

    /** Tries all suspended shards a little later. */
    void retryLater() {
        if (retrying || closed) {
            return;
        }
        retrying = true;
        loop.timer(RETRY_MILLIS, () -> {
            retrying = false;
            List<Integer> suspended = new ArrayList<>();
            for (ShardLog log : logs) {
                if (log.state() == ShardLog.State.SUSPENDED) {
                    suspended.add(log.shard());
                }
            }
            establish(suspended);
        });
    }

    /**
     * The pauses of shards between recoveries. After a failure the pause doubles: a full Redis stays full for a while, and every try
     * costs an epoch or delays others. A shard that contradicts itself repeatedly also pauses, since a recovery does not cure it.
     * Confined to the persistence verticle's event loop.
     */
    static final class Pauses {
        private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

        /** Short enough that a shard is back some seconds after the cause is repaired. */
        private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(4);

        /** After so long without a contradiction, the next one counts as the first. */
        private static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(30);

        private final LongSupplier nanoTime;
        private final Map<Integer, Pause> pauses = new HashMap<>();
        private final Map<Integer, Pause> contradictions = new HashMap<>();

        private record Pause(long nanos, long untilNanos) {}

        /** @param nanoTime as {@link System#nanoTime} */
        Pauses(LongSupplier nanoTime) {
            this.nanoTime = nanoTime;
        }

        /**
         * Notes a failed recovery.
         *
         * @param costs whether it had drawn a generation, or delayed others by a lock or a statement that took its full time. Else
         *     the next try costs nothing, and is made at once
         * @return whether it is the first failure since the last success: worth an alarm
         */
        boolean failed(int shard, boolean costs) {
            Pause before = pauses.get(shard);
            long nanos = before == null ? 0 : before.nanos;
            if (costs) {
                nanos = Math.min(Math.max(2 * nanos, FIRST_NANOS), LAST_NANOS);
            }
            pauses.put(shard, new Pause(nanos, nanoTime.getAsLong() + nanos));
            return before == null;
        }

        /** Notes that void items are the cause of a recovery. The first recovery goes at once: claims wait for it. */
        void contradicted(int shard) {
            long now = nanoTime.getAsLong();
            Pause before = contradictions.get(shard);
            long nanos = before == null || now - before.untilNanos > CALM_NANOS
                    ? 0
                    : Math.min(Math.max(2 * before.nanos, FIRST_NANOS), LAST_NANOS);
            contradictions.put(shard, new Pause(nanos, now + nanos));
        }

        void over(int shard) {
            pauses.remove(shard);
        }

        boolean holds(int shard) {
            return lasts(pauses.get(shard)) || lasts(contradictions.get(shard));
        }

        private boolean lasts(@Nullable Pause pause) {
            return pause != null && nanoTime.getAsLong() - pause.untilNanos < 0;
        }
    }

    /** Joins the log lines of shards with one cause within {@link #GATHER_MILLIS}. */
    private final class Gathered {
        private final BiConsumer<Set<Integer>, String> line;
        private final Map<String, Set<Integer>> shardsByText = new LinkedHashMap<>();

        Gathered(BiConsumer<Set<Integer>, String> line) {
            this.line = line;
        }

        void add(String text, int shard) {
            if (shardsByText.isEmpty()) {
                loop.timer(GATHER_MILLIS, () -> {
                    shardsByText.forEach((why, ids) -> line.accept(ids, why));
                    shardsByText.clear();
                });
            }
            shardsByText.computeIfAbsent(text, first -> new TreeSet<>()).add(shard);
        }
    }
}
