package dev.hongbao.common.config;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The whole configuration, validated. Immutable. */
public record HongbaoConfig(
        DataConfig data,
        HttpConfig http,
        ManagementConfig management,
        RedisConfig redis,
        PostgresConfig postgres,
        TokenConfig token,
        PacketConfig packet,
        ClaimConfig claim,
        JournalConfig journal,
        FeedConfig feed,
        SocketConfig socket,
        LimitsConfig limits,
        IdempotencyConfig idempotency,
        LogConfig log) {

    /**
     * The defaults with some options replaced, without environment or file; for tests and for commands that start their own
     * server.
     *
     * @param byPath texts by option path, as in the file: {@code "http.port" → "0"}
     * @throws ConfigException when an option is unknown or a value not allowed
     */
    public static HongbaoConfig of(Map<String, String> byPath) {
        return ConfigLoader.load(new ConfigSources(byPath, Map.of(), null, null))
                .config();
    }

    /**
     * Of a server that a command starts for itself: everything in one directory, free ports, and no limits per user, since one
     * program plays them all.
     *
     * @param more options by path, which win
     */
    public static HongbaoConfig forTrial(Path directory, Map<String, String> more) {
        Map<String, String> all = new HashMap<>(Map.of(
                "data.dir", directory.toString(),
                "http.port", "0",
                "management.port", "0",
                "packet.max-count", "100000",
                "limits.shares-per-second", "0",
                "limits.claims-per-second", "0",
                "limits.requests-per-second", "0"));
        all.putAll(more);
        return of(all);
    }

    static HongbaoConfig from(OptionValues values) {
        return new HongbaoConfig(
                DataConfig.from(values),
                HttpConfig.from(values),
                ManagementConfig.from(values),
                RedisConfig.from(values),
                PostgresConfig.from(values),
                TokenConfig.from(values),
                PacketConfig.from(values),
                ClaimConfig.from(values),
                JournalConfig.from(values),
                FeedConfig.from(values),
                SocketConfig.from(values),
                LimitsConfig.from(values),
                IdempotencyConfig.from(values),
                LogConfig.from(values));
    }
}
