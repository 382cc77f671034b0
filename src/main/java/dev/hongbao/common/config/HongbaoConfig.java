package dev.hongbao.common.config;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The whole configuration by layer, validated. Each part is a section of the options. Immutable. */
public record HongbaoConfig(Engine engine, Domain domain, Web web, PageConfig page, LogConfig log, AuditConfig audit) {
    /** Where the data is, and how it is written and checked. */
    public record Engine(
            DataConfig data,
            RedisConfig redis,
            PostgresConfig postgres,
            JournalConfig journal,
            ReconcileConfig reconcile) {}

    /** What is counted; of packets, claims and what they leave behind. */
    public record Domain(
            AssetsConfig assets,
            PacketConfig packet,
            ClaimConfig claim,
            FeedConfig feed,
            OutboxConfig outbox,
            IdempotencyConfig idempotency) {}

    /** The listeners, who may come in, and whom we call. */
    public record Web(
            HttpConfig http,
            SocketConfig socket,
            ManagementConfig management,
            TokenConfig token,
            LimitsConfig limits,
            WebhooksConfig webhooks) {}

    /**
     * The defaults with some options and constants replaced, without environment or file; for tests and for commands that start their own
     * server.
     *
     * @param byPath texts by option path, as in the file: {@code "http.port" → "0"}
     * @throws ConfigException when an option is unknown or a value not allowed
     */
    public static HongbaoConfig of(Map<String, String> byPath) {
        return ConfigLoader.ofCode(byPath);
    }

    /**
     * Of a server that a command starts for itself: everything in one directory, free ports, no checks of the books while it
     * measures, and no limits per user, since one program plays them all.
     *
     * @param more options by path, which win
     */
    public static HongbaoConfig forTrial(Path directory, Map<String, String> more) {
        return of(trialOptions(directory, more));
    }

    /** The options of {@link #forTrial}, by path: for a server that another process starts. */
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
