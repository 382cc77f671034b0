package dev.hongbao.journal;

import dev.hongbao.postgres.SharedQueries;
import dev.hongbao.redis.Script;
import io.vertx.core.Future;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What this server knows of the shards' generations: maybe an old one, which the fence then tells. Safe on any thread.
 */
public final class Shards {
    private final ShardStore store;
    private final Map<String, String> templates;
    private final AtomicReferenceArray<Shard> known;
    private final SharedQueries<String, Void> refreshing = new SharedQueries<>();
    private final SharedQueries<RecoveryRequest, Void> telling = new SharedQueries<>();
    private final ShardsAtStart atStart = new ShardsAtStart();

    /**
     * A generation and its scripts.
     *
     * @param scripts by name, stamped with the generation
     */
    public record Shard(Generation generation, Map<String, Script> scripts) {
        /** The script of that name. */
        public Script script(String name) {
            Script script = scripts.get(name);
            if (script == null) {
                throw new IllegalArgumentException("no script " + name);
            }
            return script;
        }
    }

    /**
     * @param count the number of shards, as Postgres has it
     * @param templates the scripts' texts by name, with {@code @generation@} and {@code @epoch@} to be stamped
     */
    public Shards(ShardStore store, int count, Map<String, String> templates) {
        this.store = store;
        this.templates = Map.copyOf(templates);
        this.known = new AtomicReferenceArray<>(count);
        for (int id = 0; id < count; id++) {
            known.set(id, stamped(new Generation(store.installation().namespace(), id, 0, "")));
        }
    }

    /** The number of shards. */
    public int count() {
        return known.length();
    }

    /** What every key of this installation in Redis names. */
    public String namespace() {
        return store.installation().namespace();
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

    /** What the owned shards' keeper tells of their start. */
    ShardsAtStart atStart() {
        return atStart;
    }

    /** Reads all generations from Postgres; calls at the same time share one query. */
    public Future<Void> refresh() {
        return refreshing.ask(
                "all",
                () -> store.readAll().map(rows -> {
                    rows.forEach(row -> adopt(row.generation()));
                    return null;
                }));
    }

    /**
     * Tells the shard's owner that scripts, the journal or a key of a generation are missing, then looks what Postgres
     * says. Does not wait for the recovery. Thousands may miss the same thing at once: one of them tells.
     *
     * @param key the missing key of a packet or draw that is open; null when scripts or the journal are missing
     */
    public Future<Void> report(Generation broken, @Nullable String key) {
        if (!current(broken.shard()).generation().equals(broken)) {
            return Future.succeededFuture();
        }
        RecoveryRequest request = new RecoveryRequest(broken.shard(), broken.stamp(), key);
        return telling.ask(request, () -> store.notifyOwner(request)).compose(told -> refresh());
    }

    /**
     * Tells the shard's owner that a script or a key of a generation failed with an error that none should give: it may have
     * written half of what it had to. Otherwise as {@link #report}.
     */
    public Future<Void> reportFault(Generation broken) {
        return report(broken, RecoveryRequest.FAULT);
    }

    /** Takes {@code generation} as the shard's, unless a later one is known. */
    Shard adopt(Generation generation) {
        int id = generation.shard();
        return known.updateAndGet(id, shard -> {
            boolean later = generation.epoch() > shard.generation().epoch();
            return later ? stamped(generation) : shard;
        });
    }

    private Shard stamped(Generation generation) {
        return new Shard(
                generation,
                templates.entrySet().stream()
                        .collect(Collectors.toUnmodifiableMap(
                                Map.Entry::getKey, template -> stamp(template.getValue(), generation))));
    }

    private static Script stamp(String template, Generation generation) {
        return Script.of(template.replace("@generation@", generation.stamp())
                .replace("@epoch@", Long.toString(generation.epoch())));
    }
}
