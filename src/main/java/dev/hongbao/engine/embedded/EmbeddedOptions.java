package dev.hongbao.engine.embedded;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How to run the children.
 *
 * @param supervised whether a child that ends on its own is started again
 * @param binaries where the binaries are unpacked, once; null for {@code bin} in the data directory. May be shared by
 *     several data directories.
 * @param redisSettings more lines of redis.conf, by name; they win over ours
 * @param postgresSettings more settings of Postgres, by name; they win over ours
 */
public record EmbeddedOptions(
        boolean supervised,
        @Nullable Path binaries,
        Map<String, String> redisSettings,
        Map<String, String> postgresSettings) {

    public EmbeddedOptions {
        redisSettings = Map.copyOf(redisSettings);
        postgresSettings = Map.copyOf(postgresSettings);
    }

    /** Supervised, binaries in the data directory, our settings. */
    public static EmbeddedOptions defaults() {
        return new EmbeddedOptions(true, null, Map.of(), Map.of());
    }

    public EmbeddedOptions withSupervised(boolean wanted) {
        return new EmbeddedOptions(wanted, binaries, redisSettings, postgresSettings);
    }

    public EmbeddedOptions withBinaries(Path directory) {
        return new EmbeddedOptions(supervised, directory, redisSettings, postgresSettings);
    }

    public EmbeddedOptions withRedisSettings(Map<String, String> settings) {
        return new EmbeddedOptions(supervised, binaries, settings, postgresSettings);
    }

    public EmbeddedOptions withPostgresSettings(Map<String, String> settings) {
        return new EmbeddedOptions(supervised, binaries, redisSettings, settings);
    }
}
