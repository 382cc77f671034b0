package dev.hongbao.engine;

import dev.hongbao.engine.Mode.SettlementListener;
import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.engine.Settlements.LoopListeners;
import dev.hongbao.engine.Settlements.SettledFacts;
import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.store.postgres.Sessions;
import dev.hongbao.store.postgres.SharedQueries;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.store.redis.Script;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.SqlClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The shards' generations, as this server knows them. A generation may be outdated; the fence then shows it. Thread-safe. */
public final class Shards {
    /** Settlements of a server at the same time, each on a Postgres connection of its own. */
    public static final int SETTLEMENTS_AT_ONCE = 2;

    private static final Logger LOG = LoggerFactory.getLogger(Shards.class);

    private final ShardStore store;
    private final Map<String, String> scriptTexts;
    private final AtomicReferenceArray<Shard> known;
    private final AtomicLongArray heardOf;
    private final List<Runnable> forgetting = new CopyOnWriteArrayList<>();

    /** The start of Postgres that answered last; empty before the first answer. */
    private final AtomicReference<String> met = new AtomicReference<>("");

    private final SharedQueries<String, Void> refreshing = new SharedQueries<>();
    private final SharedQueries<RecoveryRequest, Void> telling = new SharedQueries<>();
    private final ShardsAtStart atStart = new ShardsAtStart();
    private final LoopListeners<Stretch> foreignEntries = new LoopListeners<>();
    private volatile Set<Integer> owned = Set.of();
    private volatile Map<String, Timer> scriptTimes = Map.of();
    private volatile @Nullable JournalMetrics journals;

    /**
     * A generation and its fenced scripts. They are stamped with the generation, so that each one has SHAs of its own, and with
     * the replication id of the Redis that was prepared. A script is stamped at its first use: a start meets generations whose
     * scripts it never needs. Thread-safe.
     */
    public static final class Shard {
        private final Generation generation;
        private final String replid;
        private final Map<String, String> texts;
        private final Map<String, Script> stamped = new ConcurrentHashMap<>();

        private Shard(Generation generation, String replid, Map<String, String> texts) {
            this.generation = generation;
            this.replid = replid;
            this.texts = texts;
        }

        public Generation generation() {
            return generation;
        }

        /**
         * The stamped script.
         *
         * @throws IllegalArgumentException for an unknown name
         */
        public Script script(String name) {
            Script known = stamped.get(name);
            return known == null ? stamped.computeIfAbsent(name, this::stamp) : known;
        }

        private Script stamp(String name) {
            String text = texts.get(name);
            if (text == null) {
                throw new IllegalArgumentException("no script " + name);
            }
            return Script.of(text.replace("@generation@", generation.stamp())
                    .replace("@epoch@", Long.toString(generation.epoch()))
                    .replace("@replid@", replid));
        }

        private Stream<Script> all() {
            return texts.keySet().stream().map(this::script);
        }

        /**
         * Loads all scripts. Only recovery of their generation may call it: their presence proves that Redis lost nothing since.
         * Idempotent.
         */
        public Future<Void> loadScripts(RedisLink redis) {
            return Future.all(all().map(script -> redis.send(
                                    Request.cmd(Command.SCRIPT).arg("LOAD").arg(script.text())))
                            .toList())
                    .mapEmpty();
        }

        /** Whether Redis has all scripts; asked by one command, so at one moment. */
        public Future<Boolean> hasScriptsIn(RedisLink redis) {
            Request exist = Request.cmd(Command.SCRIPT).arg("EXISTS");
            all().forEach(script -> exist.arg(script.sha()));
            return redis.send(exist).map(flags -> flags.stream().allMatch(flag -> flag.toInteger() == 1));
        }
    }

    /**
     * @param count the number of shards in Postgres
     * @param scriptTexts of the fenced scripts by name, with the placeholders {@code @generation@}, {@code @epoch@} and
     *     {@code @replid@}
     */
    public Shards(ShardStore store, int count, Map<String, String> scriptTexts) {
        this.store = store;
        this.scriptTexts = Collections.unmodifiableMap(new TreeMap<>(scriptTexts));
        this.known = new AtomicReferenceArray<>(count);
        this.heardOf = new AtomicLongArray(count);
        for (int id = 0; id < count; id++) {
            known.set(id, new Shard(new Generation(store.installation().namespace(), id, 0, ""), "", scriptTexts));
        }
    }

    /** Adds the metrics of the scripts' calls and of the journals. Call it once, before a writer starts. */
    public void measure(MeterRegistry registry) {
        journals = new JournalMetrics(registry, this);
        scriptTimes = scriptTexts.keySet().stream()
                .collect(Collectors.toUnmodifiableMap(
                        name -> name,
                        name -> Timer.builder("hongbao.script")
                                .description("One call of a script for a batch, from sending to the answer")
                                .tag("script", name)
                                .register(registry)));
    }

    /** The metrics of the journals, after {@link #measure}. */
    JournalMetrics journals() {
        return Objects.requireNonNull(journals);
    }

    /** Notes the time of a call, answered or failed. */
    public void scriptTook(String name, long nanos) {
        Timer time = scriptTimes.get(name);
        if (time != null) {
            time.record(nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** Their rows in Postgres. */
    public ShardStore store() {
        return store;
    }

    public int count() {
        return known.length();
    }

    /**
     * Returns the generation into which a transaction loads its rows. It stays the shard's until the transaction ends, and the
     * recovery that ends it sees the rows.
     */
    public Future<Generation> hold(SqlClient tx, int shard) {
        return store.hold(tx, shard);
    }

    /** The namespace in every key of this installation. */
    public String namespace() {
        return store.installation().namespace();
    }

    /** The number of shards on each Redis server now, the fullest first. */
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

    /** The shard of a new packet or draw with this id. */
    public int shardFor(UUID id) {
        return Math.floorMod(id.hashCode(), known.length());
    }

    /** The latest generation that this server knows; epoch 0 before the first recovery. */
    public Shard current(int shard) {
        return known.get(shard);
    }

    /**
     * Whether claims are taken: every shard has a generation, and each owned shard was live once since the start. Stays true,
     * also if a shard needs a recovery later.
     */
    public boolean isReady() {
        for (int shard = 0; shard < count(); shard++) {
            if (current(shard).generation().epoch() == 0) {
                return false;
            }
        }
        return atStart.isDone();
    }

    /** The number of shards that Redis had lost and the start restored. */
    public int recoveredAtStart() {
        return atStart.recovered();
    }

    public Set<Integer> owned() {
        return owned;
    }

    /** The listeners that inform other servers of this server's entries in the journals of their shards. */
    LoopListeners<Stretch> foreignEntries() {
        return foreignEntries;
    }

    public void owns(Set<Integer> now) {
        owned = Collections.unmodifiableSet(new TreeSet<>(now));
    }

    /** The start of the owned shards; their owner reports to it. */
    public ShardsAtStart atStart() {
        return atStart;
    }

    /**
     * Reads all generations from Postgres; calls at the same time share one query. If this server knows a later generation than
     * Postgres, the shard's owner gets a report. Either Postgres went back in time, or this answer was late. Another start of Postgres
     * clears the caches.
     */
    public Future<Void> refresh() {
        return refreshing.ask(
                "all",
                () -> store.postgresStart().compose(this::met).map(rows -> {
                    boolean wentBack = false;
                    for (ShardRow row : rows) {
                        wentBack |= take(row);
                        Generation now = current(row.generation().shard()).generation();
                        if (!now.equals(row.generation())) {
                            RecoveryRequest request = new RecoveryRequest(now.shard(), now.stamp(), Symptom.FENCED);
                            telling.ask(request, () -> store.notifyOwner(request));
                        }
                    }
                    if (wentBack) {
                        forget();
                    }
                    return null;
                }));
    }

    /**
     * Another start of Postgres may have gone back, and no shard need be behind: a packet that was lost moved no cursor, and Redis may
     * have lost what it knew, too.
     */
    private Future<List<ShardRow>> met(String start) {
        String before = met.getAndSet(start);
        if (!before.isEmpty() && !before.equals(start)) {
            LOG.info("Postgres was started anew: caches are cleared");
            forget();
        }
        return store.readAll();
    }

    private void forget() {
        forgetting.forEach(Runnable::run);
    }

    /**
     * Adds a callback for the case that Postgres went back in time, or may have: a restored backup, or a promoted replica that lacked
     * commits. Facts from before may be void, so caches must be cleared. It may be called on any thread, and more than once for one event.
     */
    public void whenPostgresWentBack(Runnable forget) {
        forgetting.add(forget);
    }

    /** Notes an epoch that another server knows: the next one must be later. */
    public void heardOf(int shard, long epoch) {
        heardOf.accumulateAndGet(shard, epoch, Math::max);
    }

    /** The latest epoch of a shard that this server or a reporting one has seen. */
    public long latestEpoch(int shard) {
        return Math.max(heardOf.get(shard), current(shard).generation().epoch());
    }

    /**
     * Reports a symptom to the shard's owner, then refreshes. Does not wait for the recovery. Equal reports at the same time are
     * sent once.
     */
    public Future<Void> report(Generation broken, Symptom symptom) {
        if (!current(broken.shard()).generation().equals(broken)) {
            return Future.succeededFuture();
        }
        RecoveryRequest request = new RecoveryRequest(broken.shard(), broken.stamp(), symptom);
        return telling.ask(request, () -> store.notifyOwner(request)).compose(told -> refresh());
    }

    /**
     * Takes the row's generation, unless a later one is known.
     *
     * @return the shard's generation after that
     */
    public Shard adopt(ShardRow row) {
        if (take(row)) {
            forget();
        }
        return current(row.generation().shard());
    }

    /** As {@link #adopt}. Returns whether Postgres went back since the known generation, so that the caches must be cleared. */
    private boolean take(ShardRow row) {
        int id = row.generation().shard();
        Shard read = of(row);
        Shard before =
                known.getAndUpdate(id, shard -> read.generation.epoch() > shard.generation.epoch() ? read : shard);
        long known = before.generation().epoch();
        // A server that has just started remembers nothing, so an earlier restore does not concern it.
        boolean wentBack = known > 0 && row.restored() > known;
        if (wentBack) {
            LOG.warn("Postgres went back in time: caches from before {} are cleared", row.generation());
        }
        return wentBack;
    }

    /** A generation, known or not, with its scripts. */
    public Shard of(ShardRow row) {
        Generation generation = row.generation();
        Shard shard = current(generation.shard());
        return shard.generation.equals(generation) ? shard : new Shard(generation, row.replid(), scriptTexts);
    }

    /**
     * Owns shards and settles their journals. Deploy one.
     *
     * @param openRedis opens links on the current event loop
     * @param modes their items are settled, and their tasks run
     * @param listener learns of every settlement; its tasks run after the modes' tasks
     * @param pollInterval between two looks into the journals
     * @param presence what this server shows to the others, before it owns a shard
     */
    public VerticleBase writer(
            Loop loop,
            Sessions postgres,
            Supplier<Future<RedisLinks>> openRedis,
            Quarantine quarantine,
            List<Mode> modes,
            SettlementListener listener,
            Duration pollInterval,
            Presence presence) {
        return new PersistenceVerticle(loop, postgres, openRedis, this, quarantine, modes, listener, pollInterval)
                .showing(presence);
    }

    /**
     * Exchanges messages with the other servers. Deploy one.
     *
     * @param line is closed with it
     * @param facts the kinds of settled facts, each with a number of its own
     * @param audience the listeners to everything
     * @throws IllegalArgumentException for a kind that is taken or out of range
     */
    public VerticleBase messages(
            Loop loop, ServerLine line, List<SettledFacts<?>> facts, Audience audience, MeterRegistry metrics) {
        return new ServerMessages(loop, line, this, facts, audience, metrics);
    }

    /**
     * Measures every shard for the operator, whichever server owns it. Deploy one.
     *
     * @param openRedis opens links on the current event loop
     */
    public VerticleBase watch(
            Loop loop, Supplier<Future<RedisLinks>> openRedis, ShardOwners owners, MeterRegistry registry) {
        return new ShardWatch(loop, openRedis, this, owners, registry);
    }

    /**
     * A fault that a server saw in Redis. The shard's owner verifies it.
     *
     * @param key the missing key; empty for the other kinds
     */
    public record Symptom(Kind kind, String key) {
        /** The generation's scripts or its journal are missing. */
        public static final Symptom FENCED = new Symptom(Kind.FENCED, "");

        /** A script failed with an impossible error, maybe between two of its writes. */
        public static final Symptom FAILED = new Symptom(Kind.FAILED, "");

        public enum Kind {
            FENCED,
            FAILED,
            MISSING
        }

        /** A key is missing though its packet or draw is open in Postgres. */
        public static Symptom missing(String key) {
            return new Symptom(Kind.MISSING, key);
        }
    }

    /**
     * The progress of the owned shards at the start. Each shard counts once: one that needs a recovery later does not make the server
     * unready, since the others serve on. Thread-safe.
     */
    static final class ShardsAtStart {
        /** After so long, a shard whose recovery fails no longer blocks the start. A recovery that is only slow does. */
        static final Duration PATIENCE = Duration.ofSeconds(30);

        private final LongSupplier nanoTime;

        /** The owned shards that were never live, by number. */
        private final Map<Integer, Waiting> waiting = new TreeMap<>();

        private int recovered;
        private boolean anyLive;
        private boolean done;

        private record Waiting(long sinceNanos, String failure) {}

        ShardsAtStart() {
            this(System::nanoTime);
        }

        ShardsAtStart(LongSupplier nanoTime) {
            this.nanoTime = nanoTime;
        }

        public synchronized void acquired(List<Integer> shards) {
            shards.forEach(shard -> waiting.put(shard, new Waiting(0, "")));
        }

        /** Other servers own all shards now. */
        public synchronized void lost() {
            waiting.clear();
        }

        /** Another server owns the shard now. */
        public synchronized void lost(int shard) {
            waiting.remove(shard);
        }

        public synchronized void live(int shard) {
            waiting.remove(shard);
            anyLive = true;
        }

        /**
         * Counts a recovery at the start. A shard's first generation does not count: there was nothing to lose.
         *
         * @return whether the start still goes on
         */
        public synchronized boolean recovered(Generation generation) {
            if (!done && generation.epoch() > 1) {
                recovered++;
            }
            return !done;
        }

        /** The number of shards that Redis had lost and the start restored. */
        synchronized int recovered() {
            return recovered;
        }

        /** Notes a failed attempt to make the shard live; it is repeated. */
        public synchronized void failed(int shard, String why) {
            waiting.computeIfPresent(
                    shard,
                    (id, before) ->
                            new Waiting(before.failure.isEmpty() ? nanoTime.getAsLong() : before.sinceNanos, why));
        }

        /**
         * Whether each owned shard was live once, or has failed for {@link #PATIENCE} while others are live; stays true. If shards
         * are left behind, the log names them once.
         */
        synchronized boolean isDone() {
            if (!done && waiting.values().stream().allMatch(this::isHopeless) && (anyLive || waiting.isEmpty())) {
                done = true;
                List<String> left = new ArrayList<>();
                waiting.forEach((shard, why) -> left.add("shard " + shard + ": " + why.failure));
                if (!left.isEmpty()) {
                    LOG.error(
                            "serving without shards whose recovery fails and is tried again; claims on their packets get"
                                    + " 503: {}",
                            left);
                }
            }
            return done;
        }

        private boolean isHopeless(Waiting shard) {
            return !shard.failure.isEmpty() && nanoTime.getAsLong() - shard.sinceNanos > PATIENCE.toNanos();
        }
    }
}
