package dev.hongbao.common.config;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The whole configuration by layer, validated. Each part is a section of the options. Immutable. */
public record HongbaoConfig(Engine engine, Domain domain, Web web, PageConfig page, LogConfig log, AuditConfig audit) {
    /** The stores, and the writing and checking of data. */
    public record Engine(
            DataConfig data,
            RedisConfig redis,
            PostgresConfig postgres,
            JournalConfig journal,
            ReconcileConfig reconcile) {}

    /** Assets, packets, claims, and the retention of their traces. */
    public record Domain(
            AssetsConfig assets,
            PacketConfig packet,
            ClaimConfig claim,
            FeedConfig feed,
            OutboxConfig outbox,
            IdempotencyConfig idempotency) {}

    /** The listeners, access to them, and outgoing calls. */
    public record Web(
            HttpConfig http,
            SocketConfig socket,
            ManagementConfig management,
            TokenConfig token,
            LimitsConfig limits,
            WebhooksConfig webhooks) {}

    /**
     * The defaults, with some options and constants replaced. Reads no environment and no file. For tests, and for commands
     * that start their own server.
     *
     * @param byPath texts by option path, as in the file: {@code "http.port" → "0"}
     * @throws ConfigException when an option is unknown or a value is not allowed
     */
    public static HongbaoConfig of(Map<String, String> byPath) {
        return ConfigLoader.ofCode(byPath);
    }

    /**
     * For a server that a command starts for itself: all files in one directory, and free ports. No background
     * reconciliation, which would disturb measurements. No rates per user, since one program plays all users.
     *
     * @param more options by path; they win over the trial's
     */
    public static HongbaoConfig forTrial(Path directory, Map<String, String> more) {
        return of(trialOptions(directory, more));
    }

    /** The options of {@link #forTrial} by path, for a server in another process. */
    public static Map<String, String> trialOptions(Path directory, Map<String, String> more) {
        Map<String, String> all = new HashMap<>(Map.of(
                "data.dir", directory.toString(),
                "http.port", "0",
                "management.port", "0",
                "packet.max-count", "100000",
                "reconcile.every", "0s",
                "limits.shares-per-second", "0",
                "limits.claims-per-second", "0",
                "limits.requests-per-second", "0"));
        all.putAll(more);
        return all;
    }
}
