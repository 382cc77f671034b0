package dev.hongbao.engine.writer;

import dev.hongbao.engine.journal.Mode;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.RecoveryRequest;
import dev.hongbao.engine.shard.ShardStore;
import dev.hongbao.engine.shard.ShardStore.ShardRow;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the owned shards: detects faults that keep one from settling, suspends it, and has it brought back
 * ({@link RecoveryAttempts}). Confined to the persistence verticle's event loop.
 */
final class ShardSupervisor implements Ownership.Listener, SettlementLoop.ShardFaults {
    private static final Logger LOG = LoggerFactory.getLogger(ShardSupervisor.class);

    /** A fault that a new generation does not cure must not cause recoveries without a pause. */
    private static final long FAULT_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ShardLog[] logs;
    private final RecoveryAttempts attempts;
    private final RedisLinks redis;
    private final ShardStore store;
    private final Shards shards;
    private final RedisWatch watch;
    private final Quarantine quarantine;
    private final Mode.Keys keys;
    private final Map<Integer, Long> lastFaultNanos = new HashMap<>();
    private final BitSet unseen = new BitSet();
    private boolean watching;

    ShardSupervisor(
            ShardLog[] logs,
            RecoveryAttempts attempts,
            RedisLinks redis,
            ShardStore store,
            Shards shards,
            RedisWatch watch,
            Quarantine quarantine,
            Mode.Keys keys) {
        this.logs = logs;
        this.attempts = attempts;
        this.redis = redis;
        this.store = store;
        this.shards = shards;
        this.watch = watch;
        this.quarantine = quarantine;
        this.keys = keys;
    }

    /** The live shards whose Redis answered the last look: work on the others would only fail. */
    List<Integer> reachable() {
        return live().stream()
                .filter(shard -> !unseen.get(shard) && isConnected(shard))
                .toList();
    }

    private boolean isConnected(int shard) {
        return logs[shard].generation().link(redis).isConnected();
    }

    List<Integer> live() {
        List<Integer> live = new ArrayList<>();
        for (ShardLog log : logs) {
            if (log.isLive()) {
                live.add(log.generation().shard());
            }
        }
        return live;
    }

    @Override
    public void acquired(List<Integer> acquired) {
        shards.atStart().acquired(acquired);
        acquired.forEach(shard -> logs[shard].suspend(ShardLog.State.RECOVERING));
        attempts.establish(acquired);
    }

    @Override
    public void lost() {
        shards.atStart().lost();
        for (ShardLog log : logs) {
            log.suspend(ShardLog.State.FOREIGN);
        }
        attempts.lost();
    }

    @Override
    public void owns(Set<Integer> owned) {
        shards.owns(owned);
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
        Runnable look = request.symptom()
                .fold(
                        () -> () -> fenced(current),
                        () -> () -> faulty(shard, "a script failed"),
                        key -> () -> missing(current, key));
        look.run();
    }

    private void fenced(Generation generation) {
        watchRedis(List.of(generation.shard()));
        watch.missed(generation, attempts.replid(generation.shard()));
    }

    private void missing(Generation generation, String key) {
        if (isOfUnitAside(key)) {
            return;
        }
        watch.isLoaded(key).onSuccess(there -> {
            if (!there && logs[generation.shard()].generation().equals(generation)) {
                markBroken(generation.shard(), -1, key + " is missing, or half loaded");
            }
        });
    }

    /** Units that are set aside are not in Redis; the reporter does not know of it yet. */
    private boolean isOfUnitAside(String key) {
        try {
            return quarantine.holds(UUID.fromString(key.substring(key.lastIndexOf(':') + 1)));
        } catch (IllegalArgumentException otherKey) {
            return false;
        }
    }

    /** A server knows a later generation than Postgres, or keys of one are in Redis. */
    void heardOfLater(int shard, long epoch, String where) {
        if (logs[shard].isLive()) {
            // An equal epoch with another nonce is another history, too.
            shards.heardOf(shard, Math.max(epoch, logs[shard].generation().epoch() + 1));
            markBroken(shard, -1, "Postgres does not know epoch " + epoch + ", but " + where + " does");
        }
    }

    @Override
    public void uncertain(Collection<Integer> unsure, boolean soon) {
        List<Integer> suspended =
                unsure.stream().filter(shard -> logs[shard].isSettling()).toList();
        suspended.forEach(shard -> logs[shard].suspend(ShardLog.State.RECOVERING));
        if (soon) {
            attempts.establish(suspended);
        } else {
            attempts.retryLater();
        }
    }

    @Override
    public void gap(int shard) {
        markBroken(shard, logs[shard].settledSeq(), "the journal has a gap");
    }

    @Override
    public void wentBack(Generation generation) {
        if (logs[generation.shard()].generation().equals(generation)) {
            markBroken(generation.shard(), -1, "Redis went back: its journal had entries again that were trimmed");
        }
    }

    @Override
    public void contradicted(Generation generation) {
        ShardLog log = logs[generation.shard()];
        if (log.generation().equals(generation)) {
            if (log.isSettling()) {
                attempts.contradicted(generation.shard());
            }
            markBroken(generation.shard(), -1, "an accepted entry contradicts a settled one");
        }
    }

    /** The shard settles on from this row. */
    void resumed(ShardRow row) {
        setAside(row.generation(), row.aside());
        shards.atStart().live(row.generation().shard());
    }

    @Override
    public void setAside(Generation generation, Collection<UUID> units) {
        if (!units.isEmpty()) {
            redis.unlink(units.stream()
                            .flatMap(unit -> keys.of(generation, unit).stream())
                            .toList())
                    .onFailure(fault -> LOG.info("keys of units that are set aside stay: {}", fault.getMessage()));
        }
    }

    /** A recovery of the shard loads the units that an operator has brought back. */
    void lookForReturned() {
        for (ShardLog log : logs) {
            if (log.isLive() && !log.aside().stream().allMatch(quarantine::holds)) {
                markBroken(log.shard(), -1, "a unit came back from the quarantine");
            }
        }
    }

    /** Reports go on while the fault lasts, so one that comes too early is dropped. */
    @Override
    public void faulty(int shard, String why) {
        long now = System.nanoTime();
        Long last = lastFaultNanos.get(shard);
        if (last == null || now - last > FAULT_PAUSE_NANOS) {
            lastFaultNanos.put(shard, now);
            markBroken(shard, -1, why);
        }
    }

    /** A suspended shard is recovered once its row in Postgres was read. */
    private void markBroken(int shard, long atSeq, String why) {
        ShardLog log = logs[shard];
        if (log.state() == ShardLog.State.FOREIGN) {
            return;
        }
        attempts.doubt(log.generation(), atSeq, why);
        if (log.isSettling()) {
            log.suspend(ShardLog.State.RECOVERING);
            attempts.establish(List.of(shard));
        }
    }

    /** Checks whether Redis still is as the last recovery left it; calls during a check are dropped. */
    void watchRedis(List<Integer> shards) {
        List<Integer> live = shards.stream().filter(this::isConnected).toList();
        if (watching || live.isEmpty()) {
            return;
        }
        watching = true;
        List<ShardRow> rows = live.stream()
                .map(shard -> new ShardRow(
                        logs[shard].generation(), logs[shard].settledSeq(), attempts.replid(shard), 0, Set.of()))
                .toList();
        List<Future<Boolean>> looks = watch.look(rows);
        Future.join(looks).onComplete(seen -> {
            watching = false;
            for (int i = 0; i < rows.size(); i++) {
                Generation generation = rows.get(i).generation();
                Future<Boolean> look = looks.get(i);
                unseen.set(generation.shard(), look.failed());
                if (look.succeeded()
                        && !look.result()
                        && logs[generation.shard()].generation().equals(generation)) {
                    markBroken(generation.shard(), -1, "Redis is not as the last recovery left it");
                }
            }
        });
    }

    /**
     * Checks whether Postgres still has its rows; called periodically. A failure means nothing here: the locks' connection shows
     * it.
     */
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
}
