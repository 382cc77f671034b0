package dev.hongbao.store.embedded;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The options of the child processes.
 *
 * @param supervised whether a child that ends by itself is started again
 * @param binaries the directory for the unpacked binaries, which several data directories may share; null for {@code bin} in the
 *     data directory
 * @param redisSettings further lines of redis.conf, by name; they override ours
 * @param postgresSettings further settings of Postgres, by name; they override ours
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

    /** Supervised, with binaries in the data directory and our settings. */
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
