package dev.hongbao.engine;

import io.vertx.sqlclient.Pool;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/**
 * One use of the shards, such as claims of packets or plays of draws. It is everything that the engine knows of the use; services
 * and APIs are the mode's own. Immutable; its parts state their own concurrency.
 *
 * @param settlers settle the items that its scripts write into the journal
 * @param loader writes the open units into a new generation
 * @param tasks the periodic work of a shard's owner
 */
public record Mode(Traits traits, List<Settler> settlers, ShardLoader loader, List<OwnerTask> tasks) {
    public Mode {
        settlers = List.copyOf(settlers);
        tasks = List.copyOf(tasks);
    }

    /**
     * The parts that need no running server: commands use them, too.
     *
     * @param scripts the names of its scripts, {@code lua/<name>.lua}
     * @param keys the names of its keys in Redis
     * @param settlers makes settlers of its items on connections of the caller
     * @param comparison compares its keys to Postgres and the journal
     */
    public record Traits(List<String> scripts, Keys keys, SettlerFactory settlers, RedisComparison.Factory comparison) {
        public Traits {
            scripts = List.copyOf(scripts);
        }
    }

    @FunctionalInterface
    public interface Keys {
        /** The keys that a packet or draw with this id has in a generation, if it belongs to this mode. */
        List<String> of(Generation generation, UUID unit);

        /** The keys in any of the modes. */
        static Keys of(Collection<Traits> modes) {
            return (generation, unit) -> modes.stream()
                    .flatMap(mode -> mode.keys().of(generation, unit).stream())
                    .toList();
        }
    }

    /** Makes settlers for a process without a running server. */
    @FunctionalInterface
    public interface SettlerFactory {
        List<Settler> of(Pool pool);
    }
}
