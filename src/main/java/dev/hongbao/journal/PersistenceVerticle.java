package dev.hongbao.journal;

import dev.hongbao.journal.ShardStore.ShardRow;
import dev.hongbao.postgres.PostgresAddress;
import dev.hongbao.postgres.SqlState;
import dev.hongbao.redis.RedisLink;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.pgclient.PgBuilder;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The writer: owns shards, settles their journals into Postgres, recovers them, and runs the chores that only an owner may.
 * Deploy one instance; everything happens on its event loop.
 *
 * <p>While one settlement is under way the next gathers, so batches grow with the load and nothing waits on a timer. Entries
 * come over the bus; the journal is read when one is missing there, and at every tick, since another server's entries come no
 * other way.
 */
public final class PersistenceVerticle extends VerticleBase {
    private static final Logger LOG = LoggerFactory.getLogger(PersistenceVerticle.class);

    private static final long RETRY_MILLIS = 200;
    private static final long DRAIN_MILLIS = 5_000;

    private final Wiring wiring;
    private final Map<String, Settler> settlers = new HashMap<>();
    private final ShardLog[] logs;
    private final JournalMetrics metrics;
    private final Map<Integer, String> replids = new HashMap<>();
    private final Promise<Void> drained = Promise.promise();
    private RedisLink redis;
    private Pool writer;
    private Ownership ownership;
    private RedisWatch watch;
    private JournalReader reader;
    private Recovery recovery;
    private boolean settling;
    private boolean watching;
    private boolean choring;
    private boolean draining;
    private int firstShard;

    /**
     * What the verticle works with.
     *
     * @param postgres for the connections of its own: the writer's and the locks'
     * @param pool for reads and recovery
     * @param pollInterval of ticks
     * @param maxItems that one settlement takes
     */
    public record Wiring(
            PostgresAddress postgres,
            Pool pool,
            String redisUrl,
            Duration redisTimeout,
            ShardStore store,
            Shards shards,
            List<Settler> settlers,
            List<ShardLoader> loaders,
            List<Chore> chores,
            Duration pollInterval,
            int maxItems,
            MeterRegistry metrics) {}

    @SuppressWarnings("NullAway.Init") // the clients are made in start(), on the verticle's own context
    public PersistenceVerticle(Wiring wiring) {
        this.wiring = wiring;
        this.logs = Stream.iterate(0, id -> id + 1)
                .limit(wiring.shards.count())
                .map(ShardLog::new)
                .toArray(ShardLog[]::new);
        this.metrics = new JournalMetrics(wiring.metrics);
        wiring.settlers.forEach(settler -> settlers.put(settler.verb(), settler));
    }

    @Override
    public Future<?> start() {
        return RedisLink.open(vertx, wiring.redisUrl, wiring.redisTimeout, "persistence")
                .compose(link -> {
                    redis = link;
                    writer = PgBuilder.pool()
                            .with(new PoolOptions().setMaxSize(1).setName("hongbao-writer"))
                            .connectingTo(wiring.postgres.connectOptions())
                            .using(vertx)
                            .build();
                    watch = new RedisWatch(redis, wiring.shards);
                    reader = new JournalReader(redis, settlers);
                    recovery = new Recovery(
                            wiring.pool,
                            redis,
                            watch,
                            wiring.store,
                            wiring.shards,
                            reader,
                            wiring.loaders,
                            this::settle);
                    ownership = new Ownership(vertx, wiring.postgres, new OwnershipEvents());
                    for (ShardLog log : logs) {
                        vertx.eventBus()
                                .<JournalEntry>localConsumer(
                                        JournalEntry.address(log.generation().shard()), message -> {
                                            log.offer(message.body());
                                            pump();
                                        });
                    }
                    return ownership.tryAcquire(logs.length);
                })
                .onSuccess(acquired -> vertx.setPeriodic(wiring.pollInterval.toMillis(), tick -> tick()));
    }

    /** Settles what the journals hold, for some seconds at the most, then gives the shards back. */
    @Override
    public Future<?> stop() {
        draining = true;
        for (ShardLog log : logs) {
            log.suspectMore();
        }
        pump();
        return drained.future()
                .timeout(DRAIN_MILLIS, TimeUnit.MILLISECONDS)
                .recover(late -> {
                    LOG.warn("stopped with entries left in the journal; the next owner settles them");
                    return Future.succeededFuture();
                })
                .compose(done -> ownership.close())
                .eventually(() -> writer.close())
                .eventually(() -> redis.close());
    }

    // --- settling ---

    private void pump() {
        readJournals();
        if (!settling) {
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
        if (draining && isIdle()) {
            drained.tryComplete();
        }
    }

    private boolean isIdle() {
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
        for (int i = 0; i < logs.length && batch.size() < wiring.maxItems; i++) {
            logs[(firstShard + i) % logs.length].take(verb, wiring.maxItems - batch.size(), batch);
        }
        return batch;
    }

    private Future<Integer> settle(SettlementBatch batch) {
        long begun = System.nanoTime();
        Settler settler = settlers.get(batch.verb());
        Future<Integer> done = settler == null
                ? wiring.store.moveCursors(writer, batch.moves()).map(1)
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
                recover(move.generation().shard(), "an accepted entry contradicts a settled one");
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
        List<Integer> shards = batch.shards();
        shards.forEach(shard -> logs[shard].suspend(ShardLog.State.RECOVERING));
        if (soon) {
            resync(shards);
        } else {
            vertx.setTimer(RETRY_MILLIS, later -> resync(shards));
        }
    }

    private void resync(Collection<Integer> shards) {
        List<Integer> mine = shards.stream()
                .filter(shard -> logs[shard].state() == ShardLog.State.RECOVERING)
                .toList();
        if (mine.isEmpty()) {
            return;
        }
        wiring.store
                .readSettled(writer, mine)
                .onSuccess(rows -> {
                    rows.forEach(this::resume);
                    pump();
                })
                .onFailure(fault -> {
                    LOG.warn("Postgres is away: {}", fault.getMessage());
                    vertx.setTimer(RETRY_MILLIS, later -> resync(mine));
                });
    }

    private void resume(ShardRow row) {
        int shard = row.generation().shard();
        if (logs[shard].state() == ShardLog.State.RECOVERING) {
            wiring.shards.adopt(row.generation());
            replids.put(shard, row.replid());
            logs[shard].resume(row.generation(), row.lastSeq());
        }
    }

    private void readJournals() {
        for (ShardLog log : logs) {
            if (!log.wantsRead() || !redis.isConnected()) {
                continue;
            }
            Generation generation = log.generation();
            log.beginRead();
            reader.read(generation, generation.journalKey(), log.tailSeq()).onComplete(read -> {
                log.endRead();
                if (read.failed()) {
                    log.suspectMore(); // read again at the next tick
                } else if (!log.append(generation, read.result())) {
                    recover(generation.shard(), "the journal has a gap");
                } else if (draining || !read.result().isEmpty()) {
                    pump();
                }
            });
        }
    }

    // --- ticks, ownership and recovery ---

    private void tick() {
        ownership
                .tryAcquire(logs.length)
                .onFailure(away -> LOG.warn("no connection for the locks: {}", away.getMessage()));
        long unsettled = 0;
        List<Integer> live = new ArrayList<>();
        for (ShardLog log : logs) {
            log.suspectMore();
            unsettled += log.unsettledEntries();
            if (log.wantsTrim()) {
                trim(log);
            }
            if (log.isLive()) {
                live.add(log.generation().shard());
            }
        }
        metrics.unsettled.set(unsettled);
        metrics.live.set(live.size());
        pump();
        if (redis.isConnected() && !draining) {
            watchRedis(live);
            runChores(live);
        }
    }

    private void watchRedis(List<Integer> live) {
        if (watching || live.isEmpty()) {
            return;
        }
        watching = true;
        List<ShardRow> rows = live.stream()
                .map(shard -> new ShardRow(logs[shard].generation(), 0, replids.getOrDefault(shard, "")))
                .toList();
        watch.broken(rows).onComplete(seen -> {
            watching = false;
            if (seen.succeeded()) {
                for (ShardRow row : seen.result()) {
                    if (logs[row.generation().shard()].generation().equals(row.generation())) {
                        recover(row.generation().shard(), "Redis is not as the last recovery left it");
                    }
                }
            }
        });
    }

    private void runChores(List<Integer> live) {
        if (choring) {
            return;
        }
        choring = true;
        Future<Void> done = Future.succeededFuture();
        for (Chore chore : wiring.chores) {
            done = done.compose(before -> chore.run(live, redis));
        }
        done.onComplete(ran -> {
            choring = false;
            if (ran.failed()) {
                LOG.warn("a chore failed and is tried again: {}", ran.cause().toString());
            }
        });
    }

    private void recover(int shard, String why) {
        ShardLog log = logs[shard];
        if (log.isLive()) {
            LOG.warn("recovering {}: {}", log.generation(), why);
            log.suspend(ShardLog.State.RECOVERING);
            runRecovery(log.generation());
        }
    }

    private void runRecovery(Generation broken) {
        metrics.recoveries.increment();
        recovery.run(broken)
                .onSuccess(row -> {
                    resume(row);
                    LOG.info("recovered {}", row.generation());
                    pump();
                })
                .onFailure(fault -> {
                    LOG.warn("recovery of {} failed and is tried again: {}", broken, fault.toString());
                    vertx.setTimer(RETRY_MILLIS, later -> retryRecovery(broken.shard()));
                });
    }

    private void retryRecovery(int shard) {
        if (logs[shard].state() == ShardLog.State.RECOVERING) {
            inspect(List.of(shard));
        }
    }

    /** Establishes the state of shards that this server owns: settles on, or recovers first. */
    private void inspect(List<Integer> shards) {
        wiring.store
                .readSettled(wiring.pool, shards)
                .compose(rows -> watch.broken(rows).map(broken -> {
                    for (ShardRow row : rows) {
                        if (broken.contains(row)) {
                            runRecovery(row.generation());
                        } else {
                            resume(row);
                        }
                    }
                    pump();
                    return null;
                }))
                .onFailure(fault -> {
                    LOG.warn("cannot look at the shards yet: {}", fault.toString());
                    vertx.setTimer(RETRY_MILLIS, later -> shards.forEach(this::retryRecovery));
                });
    }

    private final class OwnershipEvents implements Ownership.Listener {
        @Override
        public void acquired(List<Integer> shards) {
            shards.forEach(shard -> logs[shard].suspend(ShardLog.State.RECOVERING));
            inspect(shards);
        }

        @Override
        public void lost() {
            for (ShardLog log : logs) {
                log.suspend(ShardLog.State.FOREIGN);
            }
        }

        @Override
        public void requested(RecoveryRequest request) {
            Generation current = logs[request.shard()].generation();
            String key = request.key();
            if (!logs[request.shard()].isLive() || !request.stamp().equals(current.stamp())) {
                return;
            }
            if (key == null) {
                watchRedis(List.of(request.shard()));
            } else {
                watch.exists(key).onSuccess(there -> {
                    if (!there && logs[request.shard()].generation().equals(current)) {
                        recover(request.shard(), key + " is missing");
                    }
                });
            }
        }
    }
}
