package dev.hongbao.engine.watch;

import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.ShardOwners;
import dev.hongbao.engine.shard.ShardOwners.Owned;
import dev.hongbao.engine.shard.Shards;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the journal and the cursor of every shard, whichever server owns it, also if no server does. So any one server shows the
 * backlog of all shards. If a store does not answer, the numbers stay and the ages grow. One instance a server.
 */
public final class ShardWatch extends VerticleBase {
    private static final Duration EVERY = Duration.ofSeconds(2);

    private final String redisUrl;
    private final Duration timeout;
    private final Shards shards;
    private final ShardOwners owners;
    private final List<JournalAge> ages;
    private final AtomicLongArray lengths;
    private final RedisMemory memory;
    private List<Owned> cursors = List.of();
    private @Nullable RedisLinks redis;
    private boolean looking;

    public ShardWatch(String redisUrl, Duration timeout, Shards shards, ShardOwners owners, MeterRegistry registry) {
        this.redisUrl = redisUrl;
        this.timeout = timeout;
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
            gauge(registry, "hongbao.shard.oldest.unsettled", id, ages.get(id), age -> age.seconds(System.nanoTime()))
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
        vertx.setPeriodic(1, EVERY.toMillis(), tick -> look());
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
        return open != null
                ? Future.succeededFuture(open)
                : RedisLinks.open(vertx, redisUrl, timeout, "watch").onSuccess(made -> redis = made);
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
                                    System.nanoTime());
                });
    }
}
