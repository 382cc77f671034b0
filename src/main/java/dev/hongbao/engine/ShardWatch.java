package dev.hongbao.engine;

import dev.hongbao.engine.ShardOwners.Owned;
import dev.hongbao.store.redis.RedisLink.RedisInfo;
import dev.hongbao.store.redis.RedisLinks;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the journal and the cursor of every shard, whichever server owns it, also if no server does. So any one server shows the
 * backlog of all shards. If a store does not answer, the numbers stay and the ages grow. One instance a server.
 */
final class ShardWatch extends VerticleBase {
    private static final Duration EVERY = Duration.ofSeconds(2);

    /**
     * The age of a journal's oldest unsettled entry. Entries carry no time, so an entry is as old as the first look that saw it. The
     * age is too low by at most the time between two looks. Thread-safe.
     */
    static final class JournalAge {
        /** The limit of remembered looks. When it is reached, only the oldest ones stay, and they give the age. */
        private static final int MOST = 600;

        private final Deque<Look> looks = new ArrayDeque<>();
        private long epoch = -1;

        /** The journal's last entry at a moment. */
        private record Look(long last, long atNanos) {}

        /**
         * Notes a look at the journal.
         *
         * @param of the generation's epoch; the entries of another epoch are forgotten
         * @param last the number of the journal's last entry
         * @param settled the number of the last settled entry
         */
        synchronized void seen(long of, long last, long settled, long atNanos) {
            if (of != epoch) {
                epoch = of;
                looks.clear();
            }
            while (!looks.isEmpty() && looks.getFirst().last <= settled) {
                looks.removeFirst();
            }
            boolean isNew = last > settled && (looks.isEmpty() || looks.getLast().last < last);
            if (isNew && looks.size() < MOST) {
                looks.addLast(new Look(last, atNanos));
            }
        }

        /** The age in seconds; 0 when all is settled. It grows while the stores do not answer. */
        synchronized double seconds(long nowNanos) {
            return looks.isEmpty() ? 0 : (nowNanos - looks.getFirst().atNanos) / 1e9;
        }
    }

    /**
     * The fill of Redis' memory. In a cluster, the fullest master counts: once it is full, it refuses the claims of its shards,
     * whatever room the others have. A server that does not answer is left out. When none answers, the old numbers stay. The gauges
     * are read on any thread; {@link #look} belongs to the links' event loop.
     */
    static final class RedisMemory {
        private volatile Memory fullest = new Memory(0, 0);

        RedisMemory(MeterRegistry registry) {
            Gauge.builder("hongbao.redis.memory.used", this, all -> all.fullest.used)
                    .description("Memory that Redis uses; of a cluster, its fullest master")
                    .baseUnit("bytes")
                    .register(registry);
            Gauge.builder("hongbao.redis.memory.limit", this, all -> all.fullest.limit)
                    .description(
                            "maxmemory of Redis, the limit at which it refuses claims; 0 for none; of a cluster, of the same master")
                    .baseUnit("bytes")
                    .register(registry);
        }

        /**
         * One server's memory, in bytes.
         *
         * @param limit 0 for none
         */
        private record Memory(long used, long limit) {
            static Memory of(RedisInfo info) {
                return new Memory(number(info.get("used_memory")), number(info.get("maxmemory")));
            }

            private static long number(String value) {
                return value.matches("[0-9]{1,18}") ? Long.parseLong(value) : 0;
            }

            private double fill() {
                return limit == 0 ? 0 : (double) used / limit;
            }
        }

        /** Reads all servers. Call it on the links' event loop. */
        Future<?> look(RedisLinks links) {
            List<Future<Memory>> answers = links.servers().stream()
                    .map(server -> RedisInfo.read(server, "memory").map(Memory::of))
                    .toList();
            return Future.join(answers)
                    .onComplete(asked -> answers.stream()
                            .filter(Future::succeeded)
                            .map(Future::result)
                            .max(Comparator.comparingDouble(Memory::fill).thenComparingLong(Memory::used))
                            .ifPresent(memory -> fullest = memory));
        }
    }

    private final Loop loop;
    private final Supplier<Future<RedisLinks>> openRedis;
    private final Shards shards;
    private final ShardOwners owners;
    private final List<JournalAge> ages;
    private final AtomicLongArray lengths;
    private final RedisMemory memory;
    private List<Owned> cursors = List.of();
    private @Nullable RedisLinks redis;
    private boolean looking;

    /** @param openRedis opens links on the current event loop */
    ShardWatch(
            Loop loop,
            Supplier<Future<RedisLinks>> openRedis,
            Shards shards,
            ShardOwners owners,
            MeterRegistry registry) {
        this.loop = loop;
        this.openRedis = openRedis;
        this.shards = shards;
        this.owners = owners;
        this.ages = IntStream.range(0, shards.count())
                .mapToObj(shard -> new JournalAge())
                .toList();
        this.lengths = new AtomicLongArray(shards.count());
        this.memory = new RedisMemory(registry);
        for (int shard = 0; shard < shards.count(); shard++) {
            int id = shard;
            gauge(registry, "hongbao.shard.journal.entries", id, lengths, all -> all.get(id))
                    .description("Entries that the journal in Redis holds")
                    .register(registry);
            gauge(registry, "hongbao.shard.oldest.unsettled", id, ages.get(id), age -> age.seconds(loop.nanos()))
                    .description("Time since the oldest unsettled entry was first seen; 0 when all is settled")
                    .baseUnit("seconds")
                    .register(registry);
            gauge(
                            registry,
                            "hongbao.shard.epoch",
                            id,
                            shards,
                            all -> all.current(id).generation().epoch())
                    .description("The epoch of the generation that this server knows; each recovery draws a higher one")
                    .register(registry);
        }
    }

    private static <T> Gauge.Builder<T> gauge(
            MeterRegistry registry, String name, int shard, T of, java.util.function.ToDoubleFunction<T> value) {
        return Gauge.builder(name, of, value).tag("shard", Integer.toString(shard));
    }

    @Override
    public Future<?> start() {
        loop.run(this::look);
        loop.periodic(EVERY.toMillis(), this::look);
        return Future.succeededFuture();
    }

    @Override
    public Future<?> stop() {
        RedisLinks open = redis;
        return open == null ? Future.succeededFuture() : open.close();
    }

    private void look() {
        if (looking) {
            return;
        }
        looking = true;
        links().compose(links -> Future.join(memory.look(links), journals(links)))
                .onComplete(done -> looking = false);
    }

    /** Looks at the journals also while Postgres does not answer: journals grow then. The cursors are the last ones read. */
    private Future<?> journals(RedisLinks links) {
        return owners.shards().onSuccess(rows -> cursors = rows).transform(asked -> look(links, cursors));
    }

    private Future<RedisLinks> links() {
        RedisLinks open = redis;
        return open != null ? Future.succeededFuture(open) : openRedis.get().onSuccess(made -> redis = made);
    }

    /** The cursors were read first: an entry that settled in between counts as unsettled until the next look. */
    private Future<?> look(RedisLinks links, List<Owned> rows) {
        List<Future<?>> looks = new ArrayList<>();
        for (Owned row : rows) {
            Generation generation = shards.current(row.shard()).generation();
            if (generation.epoch() == row.epoch() && row.epoch() > 0) {
                looks.add(look(links, generation, row.settled()));
            }
        }
        return Future.join(looks);
    }

    private Future<?> look(RedisLinks links, Generation generation, long settled) {
        String journal = generation.journalKey();
        return links.linkFor(journal)
                .send(Request.cmd(Command.XINFO).arg("STREAM").arg(journal))
                .onSuccess(info -> {
                    lengths.set(generation.shard(), info.get("length").toLong());
                    String last = info.get("last-generated-id").toString();
                    ages.get(generation.shard())
                            .seen(
                                    generation.epoch(),
                                    Long.parseLong(last.substring(last.indexOf('-') + 1)),
                                    settled,
                                    loop.nanos());
                });
    }
}
