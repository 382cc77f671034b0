package dev.hongbao.engine.journal;

import dev.hongbao.engine.shard.Generation;
import io.vertx.sqlclient.Pool;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/**
 * A way to use the shards, as one value: claims of packets, plays of draws. It is all that the engine knows of it; a server's
 * services and faces know the rest. Immutable; what it holds says its own concurrency.
 *
 * @param settlers of the items that its scripts write into the journal
 * @param loader writes what is open into a new generation
 * @param tasks what a shard's owner does for it, again and again
 */
public record Mode(Traits traits, List<Settler> settlers, ShardLoader loader, List<OwnerTask> tasks) {
    public Mode {
        settlers = List.copyOf(settlers);
        tasks = List.copyOf(tasks);
    }

    /**
     * What is the same in every process, with or without a server at work.
     *
     * @param scripts the names of its scripts, {@code lua/<name>.lua}
     * @param keys the names of its keys in Redis
     * @param settlers of its items, on connections of their own
     * @param comparison compares its keys to Postgres and the journal
     */
    public record Traits(List<String> scripts, Keys keys, SettlerFactory settlers, RedisComparison.Factory comparison) {
        public Traits {
            scripts = List.copyOf(scripts);
        }
    }

    /** Names keys. */
    @FunctionalInterface
    public interface Keys {
        /** All keys in a generation that a packet or draw of this id has, if it is one of this mode. */
        List<String> of(Generation generation, UUID unit);

        /** Those of any of the modes. */
        static Keys of(Collection<Traits> modes) {
            return (generation, unit) -> modes.stream()
                    .flatMap(mode -> mode.keys().of(generation, unit).stream())
                    .toList();
        }
    }

    /** Makes settlers for who settles without a server at work. */
    @FunctionalInterface
    public interface SettlerFactory {
        List<Settler> of(Pool pool);
    }
}
