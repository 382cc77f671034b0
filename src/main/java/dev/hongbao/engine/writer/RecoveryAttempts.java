package dev.hongbao.engine.writer;

import dev.hongbao.engine.postgres.SqlState;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.ShardStore;
import dev.hongbao.engine.shard.ShardStore.ShardRow;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
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

    private final Vertx vertx;
    private final ShardLog[] logs;
    private final WriterConnection writer;
    private final ShardStore store;
    private final Shards shards;
    private final RedisWatch watch;
    private final JournalMetrics metrics;
    private final RecoveryPauses pauses = new RecoveryPauses(System::nanoTime);
    private final BitSet underWay = new BitSet();
    private final Gathered doubted = new Gathered(ids -> why -> LOG.warn("recovers the shards {}: {}", ids, why));
    private final Gathered failed =
            new Gathered(ids -> why -> LOG.error("recovery of the shards {} failed, trying again: {}", ids, why));
    private final Gathered recovered = new Gathered(ids -> none -> LOG.info("recovered the shards {}", ids));
    private final BitSet away = new BitSet();
    private final Map<Integer, Doubt> faults = new HashMap<>();
    private final Map<Integer, String> replids = new HashMap<>();
    private @Nullable Recovery recovery;
    private @Nullable Consumer<ShardRow> resumed;
    private boolean retrying;
    private boolean closed;

    /**
     * A reason to recover a generation though Redis looks healthy.
     *
     * @param atSeq only while the cursor is there; -1 for any cursor
     */
    private record Doubt(Generation generation, long atSeq) {
        boolean holds(ShardRow row) {
            return row.generation().equals(generation) && (atSeq < 0 || atSeq == row.lastSeq());
        }
    }

    /**
     * @param writer the settlements' connection. Rows are read with a lock, so a settlement that has begun to move a row has
     *     ended
     */
    RecoveryAttempts(
            Vertx vertx,
            ShardLog[] logs,
            WriterConnection writer,
            ShardStore store,
            Shards shards,
            RedisWatch watch,
            JournalMetrics metrics) {
        this.vertx = vertx;
        this.logs = logs;
        this.writer = writer;
        this.store = store;
        this.shards = shards;
        this.watch = watch;
        this.metrics = metrics;
    }

    /**
     * Completes the wiring; call it once, before any attempt.
     *
     * @param resumed gets each shard that may settle again, with its cursor
     */
    void start(Recovery how, Consumer<ShardRow> resumed) {
        this.recovery = how;
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

    /** The replication id of the Redis in which a shard was last found healthy; empty before that. */
    String replid(int shard) {
        return replids.getOrDefault(shard, "");
    }

    /**
     * Recovers a generation at the next attempt, even if Redis looks healthy.
     *
     * @param atSeq only while the cursor is there; -1 for any cursor
     * @param why for the log
     */
    void doubt(Generation generation, long atSeq, String why) {
        doubted.add(why, generation.shard());
        faults.put(generation.shard(), new Doubt(generation, atSeq));
    }

    /** Notes a contradiction as the cause of the shard's next recovery: see {@link RecoveryPauses#contradicted}. */
    void contradicted(int shard) {
        pauses.contradicted(shard);
    }

    /** Forgets the doubts: other servers own the shards now. */
    void lost() {
        faults.clear();
    }

    /** Forgets the shard: another server owns it now. */
    void lost(int shard) {
        faults.remove(shard);
        replids.remove(shard);
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
            Doubt doubt = faults.get(shard);
            if (broken.get(i).failed()) {
                unseen.put(shard, incarnation);
                why = broken.get(i).cause().toString();
                continue;
            }
            away.clear(shard);
            if (!again.contains(row)) {
                finish(shard, incarnation, null);
            } else if (isTrue(broken.get(i)) || doubt != null && doubt.holds(row)) {
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
            if (logs[shard].state() != ShardLog.State.RECOVERING || underWay.get(shard)) {
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
        Recovery how = recovery;
        if (how == null) {
            throw new IllegalStateException("not started");
        }
        how.run(broken, remembered(broken))
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
        replids.put(shard, row.replid());
        faults.remove(shard);
        log.resume(row.generation(), row.lastSeq(), row.aside());
        if (resumed != null) {
            resumed.accept(row);
        }
    }

    /** Tries all suspended shards a little later. */
    void retryLater() {
        if (retrying || closed) {
            return;
        }
        retrying = true;
        vertx.setTimer(RETRY_MILLIS, later -> {
            retrying = false;
            List<Integer> suspended = new ArrayList<>();
            for (ShardLog log : logs) {
                if (log.state() == ShardLog.State.RECOVERING) {
                    suspended.add(log.shard());
                }
            }
            establish(suspended);
        });
    }

    /** Joins the log lines of shards with one cause within {@link #GATHER_MILLIS}. */
    private final class Gathered {
        private final Function<Set<Integer>, Consumer<String>> line;
        private final Map<String, Set<Integer>> shardsByText = new LinkedHashMap<>();

        Gathered(Function<Set<Integer>, Consumer<String>> line) {
            this.line = line;
        }

        void add(String text, int shard) {
            if (shardsByText.isEmpty()) {
                vertx.setTimer(GATHER_MILLIS, later -> {
                    shardsByText.forEach((why, ids) -> line.apply(ids).accept(why));
                    shardsByText.clear();
                });
            }
            shardsByText.computeIfAbsent(text, first -> new TreeSet<>()).add(shard);
        }
    }
}
