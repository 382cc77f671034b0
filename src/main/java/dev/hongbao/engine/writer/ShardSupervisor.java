package dev.hongbao.engine.writer;

import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.RecoveryRequest;
import dev.hongbao.engine.shard.ShardStore;
import dev.hongbao.engine.shard.ShardStore.ShardRow;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.SqlClient;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the owned shards able to settle: establishes where each one is when it was acquired or a settlement's outcome is
 * unknown, watches Redis, and recovers what is broken, until it succeeds or the shard is lost. At most one attempt a shard is
 * under way. Confined to the persistence verticle's event loop.
 */
final class ShardSupervisor implements Ownership.Listener, SettlementLoop.ShardFaults {
    private static final Logger LOG = LoggerFactory.getLogger(ShardSupervisor.class);

    private static final long RETRY_MILLIS = 200;

    /** A fault that a new generation does not cure must not keep the shard recovering without a pause. */
    private static final long FAULT_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Vertx vertx;
    private final ShardLog[] logs;
    private final SqlClient writer;
    private final RedisLink redis;
    private final ShardStore store;
    private final Shards shards;
    private final RedisWatch watch;
    private final Quarantine quarantine;
    private final JournalMetrics metrics;
    private final RecoveryPauses pauses = new RecoveryPauses(System::nanoTime);
    private final BitSet underWay = new BitSet();
    private final Map<Integer, Doubt> faults = new HashMap<>();
    private final Map<Integer, Long> lastFaultNanos = new HashMap<>();
    private final Map<Integer, String> replids = new HashMap<>();
    private @Nullable Recovery recovery;
    private @Nullable Runnable resumed;
    private boolean watching;
    private boolean retrying;
    private boolean away;
    private boolean closed;

    /**
     * Why a generation is to be recovered though Redis looks well.
     *
     * @param atSeq only if the cursor is still there; -1 for wherever it is
     */
    private record Doubt(Generation generation, long atSeq) {
        boolean holds(ShardRow row) {
            return row.generation().equals(generation) && (atSeq < 0 || atSeq == row.lastSeq());
        }
    }

    /** @param writer the connection of the settlements, so that a row is read after those that were sent before */
    ShardSupervisor(
            Vertx vertx,
            ShardLog[] logs,
            SqlClient writer,
            RedisLink redis,
            ShardStore store,
            Shards shards,
            RedisWatch watch,
            Quarantine quarantine,
            JournalMetrics metrics) {
        this.vertx = vertx;
        this.logs = logs;
        this.writer = writer;
        this.redis = redis;
        this.store = store;
        this.shards = shards;
        this.watch = watch;
        this.quarantine = quarantine;
        this.metrics = metrics;
    }

    /**
     * Completes the wiring; call it once, before any event.
     *
     * @param resumed called when shards may settle again
     */
    void start(Recovery how, Runnable resumed) {
        this.recovery = how;
        this.resumed = resumed;
    }

    /** Ends all retries; what is under way has no effect on the logs any more. Idempotent. */
    void close() {
        closed = true;
        lost();
    }

    /** Whether a look at a shard, or its recovery, is under way: a stop that cut it off would leave the shard without its keys. */
    boolean isBusy() {
        return !underWay.isEmpty();
    }

    /** The shards that settle. */
    List<Integer> live() {
        List<Integer> live = new ArrayList<>();
        for (ShardLog log : logs) {
            if (log.isLive()) {
                live.add(log.generation().shard());
            }
        }
        return live;
    }

    // --- what happens to shards ---

    @Override
    public void acquired(List<Integer> acquired) {
        shards.atStart().acquired(acquired);
        acquired.forEach(shard -> logs[shard].suspend(ShardLog.State.RECOVERING));
        establish(acquired);
    }

    @Override
    public void lost() {
        shards.atStart().lost();
        for (ShardLog log : logs) {
            log.suspend(ShardLog.State.FOREIGN);
        }
        faults.clear();
    }

    @Override
    public void requested(RecoveryRequest request) {
        int shard = request.shard();
        Generation current = logs[shard].generation();
        if (!logs[shard].isLive()) {
            return;
        }
        if (!request.stamp().equals(current.stamp())) {
            if (request.epoch() >= current.epoch()) {
                heardOfLater(shard, request.epoch(), "a server");
            }
            return;
        }
        String key = request.key();
        if (key == null) {
            watchRedis(List.of(shard));
        } else if (key.equals(RecoveryRequest.FAULT)) {
            faulty(shard, "a script failed");
        } else if (!isOfUnitAside(key)) {
            watch.exists(key).onSuccess(there -> {
                if (!there && logs[shard].generation().equals(current)) {
                    markBroken(shard, -1, key + " is missing");
                }
            });
        }
    }

    /** What is set aside is not in Redis, and nobody should miss it; who asked has not heard of it yet. */
    private boolean isOfUnitAside(String key) {
        try {
            return quarantine.holds(UUID.fromString(key.substring(key.lastIndexOf(':') + 1)));
        } catch (IllegalArgumentException otherKey) {
            return false;
        }
    }

    /** A later generation than Postgres has is known to a server, or has left keys in Redis. */
    void heardOfLater(int shard, long epoch, String where) {
        if (logs[shard].isLive()) {
            // Of the same epoch but another nonce: that is another history, too.
            shards.heardOf(shard, Math.max(epoch, logs[shard].generation().epoch() + 1));
            markBroken(shard, -1, "Postgres does not know of epoch " + epoch + ", which " + where + " knows");
        }
    }

    @Override
    public void uncertain(Collection<Integer> unsure, boolean soon) {
        List<Integer> suspended =
                unsure.stream().filter(shard -> logs[shard].isLive()).toList();
        suspended.forEach(shard -> logs[shard].suspend(ShardLog.State.RECOVERING));
        if (soon) {
            establish(suspended);
        } else {
            retryLater();
        }
    }

    @Override
    public void gap(int shard) {
        markBroken(shard, logs[shard].settledSeq(), "the journal has a gap");
    }

    @Override
    public void contradicted(Generation generation) {
        if (logs[generation.shard()].generation().equals(generation)) {
            markBroken(generation.shard(), -1, "an accepted entry contradicts a settled one");
        }
    }

    @Override
    public void setAside(Generation generation, Collection<UUID> units) {
        if (!units.isEmpty()) {
            Request unlink = Request.cmd(Command.UNLINK);
            units.forEach(unit -> generation.keysOf(unit).forEach(unlink::arg));
            redis.send(unlink).onFailure(fault -> LOG.info("keys of what is set aside stay: {}", fault.getMessage()));
        }
    }

    /** What an operator has brought back is loaded by a recovery of its shard. */
    void lookForReturned() {
        for (ShardLog log : logs) {
            if (log.isLive() && !log.aside().stream().allMatch(quarantine::holds)) {
                markBroken(log.shard(), -1, "something is not set aside any more");
            }
        }
    }

    /** Heard again and again while the fault lasts, so that one which comes too early is dropped. */
    @Override
    public void faulty(int shard, String why) {
        long now = System.nanoTime();
        Long last = lastFaultNanos.get(shard);
        if (last == null || now - last > FAULT_PAUSE_NANOS) {
            lastFaultNanos.put(shard, now);
            markBroken(shard, -1, why);
        }
    }

    /** A shard that is suspended already is recovered once Postgres has told where it is. */
    private void markBroken(int shard, long atSeq, String why) {
        ShardLog log = logs[shard];
        if (log.state() == ShardLog.State.FOREIGN) {
            return;
        }
        LOG.warn("recovering {}: {}", log.generation(), why);
        faults.put(shard, new Doubt(log.generation(), atSeq));
        if (log.isLive()) {
            log.suspend(ShardLog.State.RECOVERING);
            establish(List.of(shard));
        }
    }

    /** Looks whether Redis still is as the last recovery left it; calls during a look are dropped. */
    void watchRedis(List<Integer> live) {
        if (watching || live.isEmpty() || !redis.isConnected()) {
            return;
        }
        watching = true;
        List<ShardRow> rows = live.stream()
                .map(shard -> new ShardRow(logs[shard].generation(), 0, replids.getOrDefault(shard, ""), 0, Set.of()))
                .toList();
        watch.broken(rows).onComplete(seen -> {
            watching = false;
            if (seen.succeeded()) {
                for (ShardRow row : seen.result()) {
                    int shard = row.generation().shard();
                    if (logs[shard].generation().equals(row.generation())) {
                        markBroken(shard, -1, "Redis is not as the last recovery left it");
                    }
                }
            }
        });
    }

    // --- establishing where suspended shards are ---

    private void establish(Collection<Integer> suspended) {
        Map<Integer, Long> attempts = new HashMap<>();
        for (int shard : suspended) {
            if (logs[shard].state() != ShardLog.State.RECOVERING || underWay.get(shard)) {
                continue;
            }
            if (pauses.holds(shard)) {
                retryLater();
            } else {
                underWay.set(shard);
                attempts.put(shard, logs[shard].incarnation());
            }
        }
        if (attempts.isEmpty()) {
            return;
        }
        store.readSettled(writer, attempts.keySet())
                .compose(rows -> broken(rows).map(broken -> {
                    away = false;
                    for (ShardRow row : rows) {
                        int shard = row.generation().shard();
                        long attempt = attempts.getOrDefault(shard, -1L);
                        Doubt doubt = faults.get(shard);
                        if (broken.contains(row) || doubt != null && doubt.holds(row)) {
                            recover(row.generation(), attempt);
                        } else {
                            finish(shard, attempt, row);
                        }
                    }
                    return null;
                }))
                .onFailure(fault -> {
                    if (!away) {
                        LOG.warn("cannot look at the shards, trying on: {}", fault.toString());
                    }
                    away = true;
                    attempts.forEach((shard, attempt) -> finish(shard, attempt, null));
                });
    }

    /** Those that cannot go on from where Postgres says they are: see {@link RedisWatch}, and {@link #remembered}. */
    private Future<Set<ShardRow>> broken(List<ShardRow> rows) {
        Future<List<ShardRow>> inRedis = watch.broken(rows);
        List<Future<Long>> trimmed = rows.stream()
                .map(row -> watch.trimmedUpTo(row.generation().journalKey()))
                .toList();
        return Future.all(trimmed).compose(all -> inRedis).map(found -> {
            Set<ShardRow> broken = new HashSet<>(found);
            for (int i = 0; i < rows.size(); i++) {
                ShardRow row = rows.get(i);
                if (Math.max(trimmed.get(i).result(), remembered(row.generation())) > row.lastSeq()) {
                    broken.add(row);
                }
            }
            return broken;
        });
    }

    /** The cursor of a generation that is known here to have been committed: Postgres cannot be behind it unless it went back. */
    private long remembered(Generation generation) {
        ShardLog log = logs[generation.shard()];
        return log.generation().equals(generation) ? log.settledSeq() : -1;
    }

    /** Looks whether Postgres still has what it had; called now and then. A failure is no answer: the locks' connection tells. */
    void watchPostgres(List<Integer> live) {
        Map<Integer, ShardRow> before = new HashMap<>();
        live.forEach(shard ->
                before.put(shard, new ShardRow(logs[shard].generation(), logs[shard].settledSeq(), "", 0, Set.of())));
        store.readAll().onSuccess(rows -> {
            for (ShardRow row : rows) {
                ShardRow then = before.get(row.generation().shard());
                if (then != null
                        && (!then.generation().equals(row.generation()) || then.lastSeq() > row.lastSeq())
                        && logs[row.generation().shard()].generation().equals(then.generation())) {
                    uncertain(List.of(row.generation().shard()), true);
                }
            }
        });
    }

    private void recover(Generation broken, long attempt) {
        Recovery how = recovery;
        if (how == null) {
            throw new IllegalStateException("not started");
        }
        how.run(broken, remembered(broken))
                .onSuccess(row -> {
                    metrics.recoveries.increment();
                    LOG.info("recovered {}", row.generation());
                    pauses.over(broken.shard());
                    finish(broken.shard(), attempt, row);
                })
                .onFailure(fault -> {
                    // A generation that was drawn in vain costs an epoch and a script: the next one comes later and
                    // later.
                    boolean drawn = shards.current(broken.shard()).generation().epoch() > broken.epoch();
                    if (pauses.failed(broken.shard(), drawn)) {
                        LOG.error("recovery of {} failed and is tried on: {}", broken, fault.toString());
                    } else {
                        LOG.debug("recovery of {} failed again: {}", broken, fault.toString());
                    }
                    shards.atStart().failed(broken.shard(), fault.toString());
                    finish(broken.shard(), attempt, null);
                });
    }

    /** An attempt ended: the shard settles on from {@code row}, or it is tried again. */
    private void finish(int shard, long attempt, @Nullable ShardRow row) {
        underWay.clear(shard);
        ShardLog log = logs[shard];
        if (row == null || log.incarnation() != attempt) {
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
        setAside(row.generation(), row.aside());
        shards.atStart().live(shard);
        if (resumed != null) {
            resumed.run();
        }
    }

    private void retryLater() {
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
}
