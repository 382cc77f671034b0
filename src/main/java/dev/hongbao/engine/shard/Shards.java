package dev.hongbao.engine.shard;

import dev.hongbao.common.vertx.LoopListeners;
import dev.hongbao.engine.postgres.SharedQueries;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.ShardStore.ShardRow;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this server knows of the shards' generations: maybe an old one, which the fence then tells. Thread-safe.
 */
public final class Shards {
    private static final Logger LOG = LoggerFactory.getLogger(Shards.class);

    private final ShardStore store;
    private final Map<String, String> scriptTexts;
    private final AtomicReferenceArray<Shard> known;
    private final AtomicLongArray heardOf;
    private final List<Runnable> forgetting = new CopyOnWriteArrayList<>();
    private final SharedQueries<String, Void> refreshing = new SharedQueries<>();
    private final SharedQueries<RecoveryRequest, Void> telling = new SharedQueries<>();
    private final ShardsAtStart atStart = new ShardsAtStart();
    private final LoopListeners<ForeignEntry> foreignEntries = new LoopListeners<>();
    private volatile Set<Integer> owned = Set.of();
    private volatile Map<String, Timer> scriptTimes = Map.of();

    /** A generation and its scripts, as its recovery loads them. */
    public record Shard(Generation generation, ScriptSet scripts) {}

    /** An entry that this server wrote into the journal of a shard that it does not own. @param seq its place there, from 1 */
    public record ForeignEntry(Generation generation, long seq) {}

    /**
     * @param count the number of shards, as Postgres has it
     * @param scriptTexts of the fenced scripts by name, with {@code @generation@} and {@code @epoch@} to be stamped
     */
    public Shards(ShardStore store, int count, Map<String, String> scriptTexts) {
        this.store = store;
        this.scriptTexts = Map.copyOf(scriptTexts);
        this.known = new AtomicReferenceArray<>(count);
        this.heardOf = new AtomicLongArray(count);
        for (int id = 0; id < count; id++) {
            known.set(id, stamped(new Generation(store.installation().namespace(), id, 0, "")));
        }
    }

    /** From now on an operator sees how long the scripts' calls take. Once. */
    public void timeScripts(MeterRegistry registry) {
        scriptTimes = scriptTexts.keySet().stream()
                .collect(Collectors.toUnmodifiableMap(
                        name -> name,
                        name -> Timer.builder("hongbao.script")
                                .description(
                                        "One call of a script, of a whole batch: from its way to Redis to the answer")
                                .tag("script", name)
                                .register(registry)));
    }

    /** A call of a script was answered, or failed. */
    public void scriptTook(String name, long nanos) {
        Timer time = scriptTimes.get(name);
        if (time != null) {
            time.record(nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** The number of shards. */
    public int count() {
        return known.length();
    }

    /**
     * The generation into which a transaction loads what it writes: it stays the shard's until the transaction ends, and the recovery
     * that ends it sees what was written.
     */
    public Future<Generation> hold(SqlClient tx, int shard) {
        return store.hold(tx, shard);
    }

    /** What every key of this installation in Redis names. */
    public String namespace() {
        return store.installation().namespace();
    }

    /** How many shards each server of Redis has now, the fullest first; one number when there is one server. */
    public List<Long> spread(RedisLinks redis) {
        return IntStream.range(0, count())
                .boxed()
                .collect(Collectors.groupingBy(
                        shard -> current(shard).generation().link(redis).server(), Collectors.counting()))
                .values()
                .stream()
                .sorted(Comparator.reverseOrder())
                .toList();
    }

    /** The shard that a packet or draw of this id is stored with when it is made. */
    public int shardFor(UUID id) {
        return Math.floorMod(id.hashCode(), known.length());
    }

    /** The latest generation this server has heard of; epoch 0 before the first recovery. */
    public Shard current(int shard) {
        return known.get(shard);
    }

    /**
     * Whether every shard has had a generation, and each that this server owns was live once since it started: then claims are
     * taken. Stays true, also when a shard has to be recovered later.
     */
    public boolean isReady() {
        for (int shard = 0; shard < count(); shard++) {
            if (current(shard).generation().epoch() == 0) {
                return false;
            }
        }
        return atStart.isDone();
    }

    /** How many shards the start wrote anew into Redis, which had lost them. */
    public int recoveredAtStart() {
        return atStart.recovered();
    }

    /** The shards that this server owns. */
    public Set<Integer> owned() {
        return owned;
    }

    /** Whoever brings it to their owners' ears. */
    public LoopListeners<ForeignEntry> foreignEntries() {
        return foreignEntries;
    }

    /** It owns these, and no other, from now on. */
    public void owns(Set<Integer> now) {
        owned = Set.copyOf(now);
    }

    /** What the owned shards' keeper tells of their start. */
    public ShardsAtStart atStart() {
        return atStart;
    }

    /**
     * Reads all generations from Postgres; calls at the same time share one query. When Postgres has an older one than is known
     * here, the shard's owner is told: maybe Postgres went back in time, or only this answer is late.
     */
    public Future<Void> refresh() {
        return refreshing.ask(
                "all",
                () -> store.readAll().map(rows -> {
                    for (ShardRow row : rows) {
                        Generation now = adopt(row).generation();
                        if (!now.equals(row.generation())) {
                            RecoveryRequest request = new RecoveryRequest(now.shard(), now.stamp(), Symptom.FENCED);
                            telling.ask(request, () -> store.notifyOwner(request));
                        }
                    }
                    return null;
                }));
    }

    /**
     * Has {@code forget} called whenever Postgres turns out to have gone back in time (a restored backup, a promoted replica that
     * lacked commits): what was remembered of it may never have been. It may be called on any thread, and more than once for
     * one event.
     */
    public void whenPostgresWentBack(Runnable forget) {
        forgetting.add(forget);
    }

    /** Another server knows a generation of this epoch: the next one has to be later. */
    public void heardOf(int shard, long epoch) {
        heardOf.accumulateAndGet(shard, epoch, Math::max);
    }

    /** The latest epoch of a shard that this server has seen or heard of. */
    public long latestEpoch(int shard) {
        return Math.max(heardOf.get(shard), current(shard).generation().epoch());
    }

    /**
     * Tells the shard's owner what was seen of a generation, then looks what Postgres says. Does not wait for the recovery.
     * Thousands may see the same thing at once: one of them tells.
     */
    public Future<Void> report(Generation broken, Symptom symptom) {
        if (!current(broken.shard()).generation().equals(broken)) {
            return Future.succeededFuture();
        }
        RecoveryRequest request = new RecoveryRequest(broken.shard(), broken.stamp(), symptom);
        return telling.ask(request, () -> store.notifyOwner(request)).compose(told -> refresh());
    }

    /** Takes the row's generation as the shard's, unless a later one is known; returns the one that is known then. */
    public Shard adopt(ShardRow row) {
        Generation generation = row.generation();
        int id = generation.shard();
        Shard before = known.getAndUpdate(
                id, shard -> generation.epoch() > shard.generation().epoch() ? stamped(generation) : shard);
        long known = before.generation().epoch();
        // A server that has just started remembers nothing: of a restore before that there is nothing to say.
        if (known > 0 && row.restored() > known) {
            LOG.warn("Postgres went back in time: what was remembered before {} is dropped", generation);
            forgetting.forEach(Runnable::run);
        }
        return current(id);
    }

    /** A generation, known or not, with its scripts. */
    public Shard of(Generation generation) {
        Shard shard = current(generation.shard());
        return shard.generation().equals(generation) ? shard : stamped(generation);
    }

    private Shard stamped(Generation generation) {
        return new Shard(generation, new ScriptSet(scriptTexts, generation));
    }
}
