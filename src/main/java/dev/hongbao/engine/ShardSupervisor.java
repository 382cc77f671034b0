package dev.hongbao.engine;

import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves the shards between their states, see {@link ShardLog}. {@link Ownership} says which shards this server gets and gives up.
 * {@link SettlementLoop}, the other servers and its own watches find faults that keep a shard from settling. A faulty shard is
 * suspended, and {@link RecoveryAttempts} resumes it. Confined to the persistence verticle's event loop.
 */
final class ShardSupervisor {
    private static final Logger LOG = LoggerFactory.getLogger(ShardSupervisor.class);

    /** A fault that a new generation does not cure must not cause recoveries without a pause. */
    private static final long FAULT_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Of a hand-over: twice the limit of a settlement's wait for a lock. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Loop loop;
    private final ShardLog[] logs;
    private final RedisLinks redis;
    private final Shards shards;
    private final RedisWatch watch;
    private final Quarantine quarantine;
    private final RecoveryAttempts attempts;
    private final Map<Integer, Long> lastFaultNanos = new HashMap<>();
    private final BitSet unseen = new BitSet();
    private boolean watching;

    ShardSupervisor(
            Loop loop,
            ShardLog[] logs,
            RedisLinks redis,
            Shards shards,
            RedisWatch watch,
            Quarantine quarantine,
            RecoveryAttempts attempts) {
        this.loop = loop;
        this.logs = logs;
        this.redis = redis;
        this.shards = shards;
        this.watch = watch;
        this.quarantine = quarantine;
        this.attempts = attempts;
    }

    /** The live shards whose Redis answered the last look: work on the others would only fail. */
    List<Integer> reachable() {
        return live().stream()
                .filter(shard -> !unseen.get(shard) && isConnected(shard))
                .toList();
    }

    /** Those of the shards whose Redis answers within {@link RedisWatch#ANSWER_MILLIS}. Never fails. */
    Future<List<Integer>> whereRedisAnswers(Collection<Integer> some) {
        Map<RedisLink, Future<String>> servers = new HashMap<>();
        Map<Integer, Future<String>> asked = new LinkedHashMap<>();
        for (int shard : some) {
            RedisLink server = logs[shard].generation().link(redis).server();
            asked.put(
                    shard,
                    servers.computeIfAbsent(
                            server, each -> loop.timeout(RedisWatch.replid(each), RedisWatch.ANSWER_MILLIS)));
        }
        return Future.join(List.copyOf(servers.values()))
                .transform(all -> Future.succeededFuture(asked.entrySet().stream()
                        .filter(each -> each.getValue().succeeded())
                        .map(Map.Entry::getKey)
                        .toList()));
    }

    private boolean isConnected(int shard) {
        return logs[shard].generation().link(redis).isConnected();
    }

    List<Integer> live() {
        return Stream.of(logs).filter(ShardLog::isLive).map(ShardLog::shard).toList();
    }

    /** The complete set of owned shards. */
    void owns(Set<Integer> owned) {
        shards.owns(owned);
    }

    /** This server owns the shards from now on. */
    void acquired(List<Integer> acquired) {
        shards.atStart().acquired(acquired);
        acquired.forEach(shard -> logs[shard].acquire());
        attempts.establish(acquired);
    }

    /** This server owns no shard any more. */
    void lost() {
        shards.atStart().lost();
        Stream.of(logs).forEach(ShardLog::lose);
    }

    /**
     * Brings the live ones of the shards to rest before another server takes them over: the owner takes no new entries, and
     * settlements under way end. Unsettled entries stay in the journals, for the next owner. A shard that breaks meanwhile stays
     * here and is recovered.
     *
     * @return the resting shards, after a second at most. This server no longer works on them, and may give up their locks
     */
    Future<List<Integer>> rest(Collection<Integer> some) {
        List<Integer> yielding =
                some.stream().filter(shard -> logs[shard].isLive()).toList();
        yielding.forEach(shard -> logs[shard].yield());
        long sinceNanos = loop.nanos();
        Promise<List<Integer>> rested = Promise.promise();
        if (!restedAll(yielding, sinceNanos, rested)) {
            awaitRest(yielding, sinceNanos, rested);
        }
        return rested.future();
    }

    private void awaitRest(List<Integer> yielding, long sinceNanos, Promise<List<Integer>> rested) {
        loop.timer(1, () -> {
            if (!restedAll(yielding, sinceNanos, rested)) {
                awaitRest(yielding, sinceNanos, rested);
            }
        });
    }

    private boolean restedAll(List<Integer> yielding, long sinceNanos, Promise<List<Integer>> rested) {
        List<Integer> resting = new ArrayList<>();
        List<Integer> late = new ArrayList<>();
        for (int shard : yielding) {
            if (logs[shard].state() == ShardLog.State.YIELDING) {
                (logs[shard].isUnderWay() ? late : resting).add(shard);
            }
        }
        if (!late.isEmpty() && loop.nanos() - sinceNanos < REST_NANOS) {
            return false;
        }
        uncertain(late, true);
        resting.forEach(shard -> {
            logs[shard].lose();
            shards.atStart().lost(shard);
        });
        rested.complete(resting);
        return true;
    }

    /** Another server reports a symptom of an owned shard. */
    void requested(RecoveryRequest request) {
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
        switch (request.symptom().kind()) {
            case FENCED -> fenced(current);
            case FAILED -> faulty(shard, "a script failed");
            case MISSING -> missing(current, request.symptom().key());
        }
    }

    private void fenced(Generation generation) {
        watchRedis(List.of(generation.shard()));
        watch.missed(logs[generation.shard()].row());
    }

    private void missing(Generation generation, String key) {
        if (isOfUnitAside(key)) {
            return;
        }
        // A script may be called for a unit whose end is settled meanwhile, and whose keys are removed.
        watch.isLoaded(key)
                .compose(there -> there ? Future.succeededFuture(true) : attempts.isOver(generation, key))
                .onSuccess(isWell -> {
                    if (!isWell && logs[generation.shard()].generation().equals(generation)) {
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

    /**
     * The shards' cursors are unknown: they are suspended, and resume from their rows in Postgres.
     *
     * @param soon whether to try at once
     */
    void uncertain(Collection<Integer> unsure, boolean soon) {
        List<Integer> suspended =
                unsure.stream().filter(shard -> logs[shard].isSettling()).toList();
        suspended.forEach(shard -> logs[shard].suspend());
        if (soon) {
            attempts.establish(suspended);
        } else {
            attempts.retryLater();
        }
    }

    /** Entries are missing in the journal. */
    void gap(int shard) {
        markBroken(shard, logs[shard].settledSeq(), "the journal has a gap");
    }

    /** The journal contained trimmed entries again: what it accepted for them differs from the settled facts. */
    void wentBack(Generation generation) {
        if (logs[generation.shard()].generation().equals(generation)) {
            markBroken(generation.shard(), -1, "Redis went back: its journal had entries again that were trimmed");
        }
    }

    /** An accepted entry of a generation was void: Redis contradicts Postgres. */
    void contradicted(Generation generation) {
        ShardLog log = logs[generation.shard()];
        if (log.generation().equals(generation)) {
            if (log.isSettling()) {
                attempts.contradicted(generation.shard());
            }
            markBroken(generation.shard(), -1, "an accepted entry contradicts a settled one");
        }
    }

    /** Redis answered with an impossible error. Reports go on while the fault lasts, so one that comes too early is dropped. */
    void faulty(int shard, String why) {
        long now = loop.nanos();
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
        attempts.doubt(log, atSeq, why);
        if (log.isSettling()) {
            log.suspend();
            attempts.establish(List.of(shard));
        }
    }

    /** Checks whether Redis still is as the last recovery left it; calls during a check are dropped. */
    void watchRedis(List<Integer> some) {
        List<Integer> live = some.stream().filter(this::isConnected).toList();
        if (watching || live.isEmpty()) {
            return;
        }
        watching = true;
        List<ShardRow> rows = live.stream().map(shard -> logs[shard].row()).toList();
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
     * Checks whether Postgres still has its rows, and whether units came back; called periodically. A failure means nothing here:
     * the locks' connection shows it.
     */
    void watchPostgres(List<Integer> live) {
        Map<Integer, ShardRow> before = new HashMap<>();
        live.forEach(shard -> before.put(shard, logs[shard].row()));
        shards.store().readAll().onSuccess(rows -> {
            for (ShardRow row : rows) {
                ShardRow then = before.get(row.generation().shard());
                if (then != null
                        && (!then.generation().equals(row.generation())
                                || then.lastSeq() > row.lastSeq()
                                || row.lacksUnits())
                        && logs[row.generation().shard()].generation().equals(then.generation())) {
                    uncertain(List.of(row.generation().shard()), true);
                }
            }
        });
    }
}
