package dev.hongbao.engine;

import dev.hongbao.engine.JournalEntry.JournalReader;
import dev.hongbao.engine.KeySweep.LeftoverKeys;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.Mode.SettlementListener;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.engine.Mode.ShardLoader;
import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Sessions;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The writer. It owns shards, settles their journals into Postgres ({@link SettlementLoop}), watches and recovers them
 * ({@link ShardSupervisor}), and runs the owner's tasks. Deploy one instance; everything happens on its event loop.
 *
 * <p>Entries arrive over the bus. The writer reads the journal if an entry is missing there, if another server announces entries,
 * and at every tick: an announcement may be lost.
 */
final class PersistenceVerticle extends VerticleBase {
    private static final Logger LOG = LoggerFactory.getLogger(PersistenceVerticle.class);

    private static final long DRAIN_MILLIS = 5_000;

    /** Between two checks whether a store went back in time, or units came back. */
    private static final long LOOK_BACK_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * The longest wait of a settlement for a lock. Then Postgres refuses it, and its shards are settled one by one. So a server
     * that froze in a transaction blocks its own shard; the others on the same connection wait only this long at each try. Other
     * locks are held for one commit, some milliseconds.
     */
    private static final Duration LOCK_LIMIT = Duration.ofMillis(500);

    private final Loop loop;
    private final Sessions postgres;
    private final Supplier<Future<RedisLinks>> openRedis;
    private final Shards shards;
    private final Quarantine quarantine;
    private final List<Mode> modes;
    private final SettlementListener listener;
    private final Duration pollInterval;
    private final JournalMetrics metrics;
    private final ShardLog[] logs;
    private final Promise<Void> drained = Promise.promise();
    private Presence presence = Presence.none();
    private RedisLinks redis;
    private List<SqlClient> writers;
    private RecoveryAttempts attempts;
    private ShardSupervisor supervisor;
    private SettlementLoop settlements;
    private List<OwnerTask> ownerTasks;
    private Ownership ownership;
    private long lookedBackNanos;
    private boolean runningTasks;
    /** The faults of the last round of the owner's tasks; the log has each of them. */
    private Set<String> toldFaults = Set.of();

    private boolean draining;

    /**
     * @param openRedis opens links on the current event loop
     * @param modes their items are settled, and their tasks run
     * @param listener learns of every settlement; its tasks run after the modes' tasks
     * @param pollInterval between two ticks
     */
    @SuppressWarnings("NullAway.Init") // the clients are made in start(), on the verticle's own context
    PersistenceVerticle(
            Loop loop,
            Sessions postgres,
            Supplier<Future<RedisLinks>> openRedis,
            Shards shards,
            Quarantine quarantine,
            List<Mode> modes,
            SettlementListener listener,
            Duration pollInterval) {
        this.loop = loop;
        this.postgres = postgres;
        this.lookedBackNanos = loop.nanos();
        this.openRedis = openRedis;
        this.shards = shards;
        this.quarantine = quarantine;
        this.modes = List.copyOf(modes);
        this.listener = listener;
        this.pollInterval = pollInterval;
        this.metrics = shards.journals();
        this.logs = Stream.iterate(0, id -> id + 1)
                .limit(shards.count())
                .map(id -> new ShardLog(loop, shards.current(id).generation()))
                .toArray(ShardLog[]::new);
    }

    /** Before the start: what this server shows to the others, before it owns a shard. @return this */
    PersistenceVerticle showing(Presence numbers) {
        presence = numbers;
        return this;
    }

    /** Fails if Redis or Postgres does not answer, or if this server may own no shard beside the running ones. */
    @Override
    public Future<?> start() {
        return openRedis
                .get()
                .compose(link -> {
                    connect(link);
                    return ownership
                            .beat()
                            .recover(fault -> link.close().transform(closed -> Future.failedFuture(fault)));
                })
                .map(acquired -> loop.periodic(pollInterval.toMillis(), this::tick));
    }

    private void connect(RedisLinks link) {
        redis = link;
        List<Long> spread = shards.spread(redis);
        if (spread.size() > 1) {
            LOG.info("{} shards over {} servers of Redis: {}", logs.length, spread.size(), spread);
        }
        writers = Stream.generate(() -> postgres.pipeline("writer", LOCK_LIMIT))
                .limit(Shards.SETTLEMENTS_AT_ONCE)
                .toList();
        List<Settler> settlers =
                modes.stream().flatMap(mode -> mode.settlers().stream()).toList();
        List<ShardLoader> loaders = modes.stream().map(Mode::loader).toList();
        Mode.Keys keys = Mode.Keys.of(modes.stream().map(Mode::traits).toList());
        JournalReader reader =
                new JournalReader(redis, settlers.stream().map(Settler::format).toList());
        BatchSettler settler = new BatchSettler(loop, writers, settlers, quarantine, listener, metrics);
        RedisWatch watch = new RedisWatch(loop, redis, shards);
        KeySweep sweep = new KeySweep(loop, redis, shards.namespace());
        Pool lengthy = shards.store().lengthy();
        Recovery recovery = new Recovery(lengthy, watch, sweep, shards, reader, loaders, settler::settle);
        WriterConnection writer = new WriterConnection(loop, settler.writer(0));
        attempts = new RecoveryAttempts(loop, logs, writer, shards, watch, recovery, metrics, this::resumed);
        supervisor = new ShardSupervisor(loop, logs, redis, shards, watch, quarantine, attempts);
        settlements = new SettlementLoop(logs, redis, reader, settler, keys, supervisor, metrics);
        SameRedis sameRedis = new SameRedis(loop, shards.store(), redis);
        ownership = new Ownership(loop, postgres, presence, sameRedis, writer, logs.length, supervisor, metrics);
        ownerTasks = new ArrayList<>();
        modes.forEach(mode -> ownerTasks.addAll(mode.tasks()));
        ownerTasks.addAll(listener.ownerTasks());
        ownerTasks.add(new LeftoverKeys(loop, lengthy, shards, loaders, supervisor));
        loop.<Integer>listen(ServerMessages.WAKE, shard -> {
            logs[shard].suspectMore();
            settlements.pump();
        });
        for (ShardLog log : logs) {
            loop.<JournalEntry>listen(JournalEntry.address(log.shard()), entry -> {
                log.offer(entry);
                settlements.pump();
            });
        }
    }

    private void resumed(ShardRow row) {
        settlements.resumed(row);
    }

    /**
     * Ends the current recoveries and owner's tasks, then hands the shards over to the other servers. If there is none, it
     * settles the journals and releases the shards. After five seconds it stops anyway; the next owner continues.
     */
    @Override
    public Future<?> stop() {
        draining = true;
        settlements.suspectMore();
        boolean alone = ownership.isAlone();
        long poll = loop.periodic(1, () -> finishIfIdle(alone));
        Future<Void> left = drained.future().compose(done -> alone ? Future.succeededFuture() : ownership.leave());
        return loop.timeout(left, DRAIN_MILLIS)
                .recover(late -> {
                    LOG.warn(
                            "stopped before every entry was settled and every shard recovered; the next owner continues");
                    return Future.succeededFuture();
                })
                .compose(done -> {
                    loop.cancel(poll);
                    attempts.close();
                    supervisor.lost();
                    metrics.stopped();
                    return ownership.close();
                })
                .eventually(
                        () -> Future.join(writers.stream().map(SqlClient::close).toList()))
                .eventually(() -> redis.close());
    }

    private void finishIfIdle(boolean alone) {
        settlements.pump();
        if ((!alone || settlements.isIdle()) && !attempts.isBusy() && !runningTasks) {
            drained.tryComplete();
        }
    }

    private void tick() {
        if (draining) {
            return;
        }
        var unused = ownership.beat();
        settlements.suspectMore();
        settlements.pump();
        List<Integer> live = supervisor.live();
        metrics.unsettled.set(
                Stream.of(logs).mapToLong(ShardLog::unsettledEntries).sum());
        metrics.live.set(live.size());
        supervisor.watchRedis(live);
        if (redis.servers().stream().anyMatch(RedisLink::isConnected)) {
            runOwnerTasks(supervisor.reachable());
        }
        if (!live.isEmpty() && loop.nanos() - lookedBackNanos > LOOK_BACK_NANOS) {
            lookedBackNanos = loop.nanos();
            settlements.trimAgain();
            supervisor.watchPostgres(live);
        }
    }

    private void runOwnerTasks(List<Integer> reachable) {
        if (runningTasks) {
            return;
        }
        runningTasks = true;
        Set<String> faults = new LinkedHashSet<>();
        dueTasks(reachable)
                .compose(due -> OwnerTask.inTurn(due.stream()
                        .<Supplier<Future<Void>>>map(task -> () -> Future.succeededFuture()
                                .compose(now -> task.run(reachable, redis)) // fails, too, if it throws
                                .onFailure(fault -> faults.add(fault.toString())))
                        .toList()))
                .onComplete(ran -> {
                    runningTasks = false;
                    faults.stream()
                            .filter(fault -> !toldFaults.contains(fault))
                            .forEach(fault -> LOG.warn("an owner's task failed, trying again: {}", fault));
                    toldFaults = faults;
                });
    }

    /** Asks Postgres for the work of all tasks in one statement. Without an answer, each task looks for itself. */
    private Future<List<OwnerTask>> dueTasks(List<Integer> reachable) {
        List<OwnerTask> asked =
                ownerTasks.stream().filter(task -> task.work() != null).toList();
        List<OwnerTask> due = new ArrayList<>(ownerTasks);
        if (reachable.isEmpty() || asked.isEmpty()) {
            due.removeAll(asked);
            return Future.succeededFuture(due);
        }
        String question = asked.stream()
                .map(task -> "(select true from " + task.work() + " limit 1)")
                .collect(Collectors.joining(", ", "select ", ""));
        Tuple owned = Tuple.tuple().addArrayOfShort(Rows.shorts(reachable));
        return shards.store()
                .pool()
                .preparedQuery(question)
                .execute(owned)
                .map(rows -> {
                    Row found = rows.iterator().next();
                    for (int i = 0; i < asked.size(); i++) {
                        if (found.getBoolean(i) == null) {
                            due.remove(asked.get(i));
                        }
                    }
                    return due;
                })
                .otherwise(due);
    }
}
