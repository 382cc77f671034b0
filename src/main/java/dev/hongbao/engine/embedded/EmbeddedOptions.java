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
 * @param template whether a new Postgres cluster may be the one that the build has made; without it {@code initdb} makes it
 * @param redisSettings more lines of redis.conf, by name; they win over ours
 * @param postgresSettings more settings of Postgres, by name; they win over ours
 */
public record EmbeddedOptions(
        boolean supervised,
        @Nullable Path binaries,
        boolean template,
        Map<String, String> redisSettings,
        Map<String, String> postgresSettings) {

    public EmbeddedOptions {
        redisSettings = Map.copyOf(redisSettings);
        postgresSettings = Map.copyOf(postgresSettings);
    }

    /** Supervised, binaries in the data directory, from the template, our settings. */
    public static EmbeddedOptions defaults() {
        return new EmbeddedOptions(true, null, true, Map.of(), Map.of());
    }

    public EmbeddedOptions withSupervised(boolean wanted) {
        return new EmbeddedOptions(wanted, binaries, template, redisSettings, postgresSettings);
    }

    public EmbeddedOptions withBinaries(Path directory) {
        return new EmbeddedOptions(supervised, directory, template, redisSettings, postgresSettings);
    }

    public EmbeddedOptions withTemplate(boolean wanted) {
        return new EmbeddedOptions(supervised, binaries, wanted, redisSettings, postgresSettings);
    }

    public EmbeddedOptions withRedisSettings(Map<String, String> settings) {
        return new EmbeddedOptions(supervised, binaries, template, settings, postgresSettings);
    }

    public EmbeddedOptions withPostgresSettings(Map<String, String> settings) {
        return new EmbeddedOptions(supervised, binaries, template, redisSettings, settings);
    }
}
