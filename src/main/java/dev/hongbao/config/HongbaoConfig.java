package dev.hongbao.config;

import dev.hongbao.config.ConfigOption.Kind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The whole configuration by layer, validated. Each part is a section of the options. Immutable. */
public record HongbaoConfig(
        Engine engine,
        Domain domain,
        WebConfig web,

        @ConfigOption(
                path = "page.images",
                kind = Kind.SECURE_ORIGINS,
                doc = "Origins from which the page loads users' pictures; without any it draws initials. The"
                        + " operators of such an origin see the addresses of the page's users.")
        List<String> pageImages,

        LogConfig log,

        @ConfigOption(
                path = "audit.retention",
                range = "365d … 36500d",
                unset = "1095d",
                doc = "The time for which the audit log keeps calls and refusals, and for which ended restrictions"
                        + " and revocations are kept. Commands that moved money are kept for ever.")
        Duration auditRetention) {
    /** The stores, and the writing and checking of data. */
    public record Engine(
            @ConfigOption(
                    path = "data.dir",
                    kind = Kind.DIRECTORY,
                    unset = "./data",
                    doc = "The directory of the token key and of the embedded Redis and Postgres.")
            Path dataDir,

            RedisConfig redis,
            PostgresConfig postgres,
            JournalConfig journal,

            @ConfigOption(
                    path = "reconcile.every",
                    range = "0s … 30d",
                    unset = "24h",
                    doc = "The interval of the background reconciliation. One server checks what is new since the"
                            + " checkpoint. 0s for never.")
            Duration reconcileEvery) {
        /** The HS256 key that is made at first use. */
        public Path tokenKeyFile() {
            return dataDir.resolve("token.key");
        }
    }

    /** Assets, packets, claims, and the retention of their traces. */
    public record Domain(
            @ConfigOption(
                    path = "assets.declared",
                    unset = "CNY:2:¥,POINTS:0:POINTS",
                    doc = "Assets that a start declares when they are unknown: code, digits behind the point, symbol."
                            + " POST /v1/assets declares more, and sets caps.")
            List<DeclaredAsset> assets,

            PacketConfig packet,
            ClaimConfig claim,

            @ConfigOption(
                    path = "feed.retention",
                    range = "1m … 30d",
                    unset = "24h",
                    doc = "The time for which a group's feed keeps events for absent clients; at most the newest 1000.")
            Duration feedRetention,

            @ConfigOption(
                    path = "outbox.retention",
                    range = "1m … 365d",
                    unset = "7d",
                    doc = "The time for which the outbox keeps events for an absent host.")
            Duration outboxRetention,

            @ConfigOption(
                    path = "idempotency.retention",
                    range = "24h … 365d",
                    unset = "48h",
                    doc = "The time for which an Idempotency-Key is kept.")
            Duration idempotencyRetention,

            @ConfigOption(
                    path = "idempotency.references",
                    unset = "any",
                    doc = "The number of commands that one reference of the host may name: any, or unique, which"
                            + " refuses a second command (409). The server that started last sets it for all servers.")
            References references) {
        /** The number of commands per reference. */
        public enum References {
            ANY,
            /** One, for ever. A second command is refused. */
            UNIQUE
        }
    }

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

    /** Shards and their journals, from accepted to settled. */
    public record JournalConfig(
            @ConfigOption(
                    path = "shards",
                    range = "1 … 256 shards",
                    unset = "8",
                    doc =
                            "The number of shards. Each holds some packets and a journal. Fewer batch better."
                                    + " Fixed in Postgres at the first start. Three masters of a Redis Cluster share 64 evenly.")
            int shards,

            @ConfigOption(
                    path = "journal.poll-interval",
                    range = "10ms … 1s",
                    unset = "100ms",
                    fixed = true,
                    doc = "The interval at which an idle shard reads its journal. It bounds the wait of a claim at"
                            + " another server, and costs ten Redis calls a second.")
            Duration pollInterval,

            @ConfigOption(
                    path = "journal.max-entries",
                    range = "256 … 10000000 entries",
                    unset = "100000",
                    fixed = true,
                    doc = "The most unsettled journal entries of a shard, of up to 256 claims each. At the limit,"
                            + " claims get 503, so that Redis does not fill up while Postgres is away.")
            int maxEntries) {}

    public record PacketConfig(
            @ConfigOption(
                    path = "packet.default-expiry",
                    range = "1s … 365d",
                    unset = "24h",
                    doc = "The time from the opening to the expiry of a packet when its sender gives none.")
            Duration defaultExpiry,

            @ConfigOption(
                    path = "packet.max-expiry",
                    range = "1s … 365d",
                    unset = "7d",
                    doc = "The longest expiry that a sender may choose.")
            Duration maxExpiry,

            @ConfigOption(
                    path = "packet.max-count",
                    range = "1 … 100000 shares",
                    unset = "10000",
                    doc = "The most shares of one packet. A send draws and writes all of them: about 10 ms of a core"
                            + " for 10,000.")
            int maxCount) {}

    /** Batching, waiting and admission of claims. */
    public record ClaimConfig(
            @ConfigOption(
                    path = "claim.batch-size",
                    range = "1 … 256 claims",
                    unset = "256",
                    fixed = true,
                    doc = "Claims in one call of the claim script. More gain nothing, and delay other calls of the"
                            + " shard.")
            int batchSize,

            @ConfigOption(
                    path = "claim.settle-timeout",
                    range = "100ms … 1m",
                    unset = "2s",
                    doc = "A claim that is not settled after this time is answered 503 (unknown). A repetition gets the"
                            + " same claim.")
            Duration settleTimeout,

            @ConfigOption(
                    path = "claim.max-waiting",
                    range = "1 … 10000000 claims",
                    unset = "10000",
                    doc = "The most claims that wait for their answer in this server; further ones get 503. The server"
                            + " lowers this limit to the number that it settles in half of claim.settle-timeout.")
            int maxWaiting) {}

    /**
     * A declared asset: {@code CNY:2:¥}, {@code POINTS:0}.
     *
     * @param code 1 to 16 of A–Z, 0–9, {@code _} and {@code -}, a letter first
     * @param scale digits behind the point, 0 to 9
     * @param symbol 1 to 8 characters; the code's first eight unless given
     */
    public record DeclaredAsset(String code, int scale, String symbol) {
        private static final int MAX_SYMBOL = 8;

        private static final Pattern TEXT = Pattern.compile("([A-Z][A-Z0-9_-]{0,15}):([0-9])(?::([^\\s:,]{1,8}))?");

        /**
         * Reads one.
         *
         * @throws IllegalArgumentException when the text is not an asset
         */
        public static DeclaredAsset parse(String text) {
            Matcher matcher = TEXT.matcher(text);
            if (!matcher.matches()) {
                throw new IllegalArgumentException("not code:scale or code:scale:symbol");
            }
            String code = matcher.group(1);
            String symbol = matcher.group(3);
            return new DeclaredAsset(
                    code,
                    Integer.parseInt(matcher.group(2)),
                    symbol == null ? code.substring(0, Math.min(MAX_SYMBOL, code.length())) : symbol);
        }

        /** The text that {@link #parse} reads back as the same asset. */
        @Override
        public String toString() {
            return code + ":" + scale + ":" + symbol;
        }
    }

    /** The Postgres that holds the truth. A null {@code url} starts one as a child process. */
    public record PostgresConfig(
            @ConfigOption(
                    path = "postgres.url",
                    kind = Kind.POSTGRES_URL,
                    doc = "The Postgres that holds the truth. Empty starts one as a child process.")
            @Nullable
            SecretUrl url,

            @ConfigOption(
                    path = "postgres.owner-url",
                    kind = Kind.POSTGRES_URL,
                    doc = "The URL for migrations: this database, with the role that owns the tables. Empty is"
                            + " postgres.url.")
            @Nullable
            SecretUrl ownerUrl,

            @ConfigOption(
                    path = "postgres.tls-authority",
                    doc = "With sslmode=verify-ca or verify-full: the certificate (PEM) of the authority that signed"
                            + " Postgres' certificate. Empty: the authorities that the JVM trusts.")
            @Nullable
            Path tlsAuthority,

            @ConfigOption(
                    path = "postgres.pool-size",
                    range = "2 … 200 connections",
                    unset = "8",
                    doc = "Connections to Postgres for requests.")
            int poolSize) {
        /** Whether the server starts its own Postgres. */
        public boolean isEmbedded() {
            return url == null;
        }

        /** The URL for migrations: the owner's if set. Null when the server starts its own Postgres. */
        public @Nullable SecretUrl migrationUrl() {
            return ownerUrl != null ? ownerUrl : url;
        }
    }

    /** The Redis that decides the order of claims. A null {@code url} starts one as a child process. */
    public record RedisConfig(
            @ConfigOption(
                    path = "redis.url",
                    kind = Kind.REDIS_URL,
                    doc = "The Redis that decides the order of claims: one server, nodes of a Redis Cluster, or"
                            + " the sentinels of one server. Empty starts one as a child process.")
            @Nullable
            SecretUrl url,

            @ConfigOption(
                    path = "redis.namespace",
                    kind = Kind.NAME,
                    doc = "The name in every key of Redis, so that installations can share a Redis. Empty: an id in"
                            + " Postgres. A copy of a database that uses the same Redis needs another name.")
            @Nullable
            String namespace,

            @ConfigOption(
                    path = "redis.command-timeout",
                    range = "10ms … 1m",
                    unset = "2s",
                    doc = "The outcome of a Redis command without an answer after this time is unknown.")
            Duration commandTimeout,

            @ConfigOption(
                    path = "redis.tls-authority",
                    doc = "With rediss://: the certificate (PEM) of the authority that signed Redis' certificate."
                            + " Empty: the authorities that the JVM trusts.")
            @Nullable
            Path tlsAuthority) {
        /** Whether the server starts its own Redis. */
        public boolean isEmbedded() {
            return url == null;
        }
    }

    public record LogConfig(
            @ConfigOption(
                    path = "log.format",
                    unset = "text",
                    doc = "The format of lines on stderr: text for people, or JSON for machines.")
            Format format,

            @ConfigOption(
                    path = "log.level",
                    unset = "info",
                    doc = "The least severe level of Hongbao's own events. debug also shows stack traces of a failed"
                            + " start.")
            Level level,

            @ConfigOption(
                    path = "log.access",
                    unset = "off",
                    doc =
                            "Whether each answer gets a line: method, path, status, time, the request's id and its trace.")
            Access access,

            @ConfigOption(
                    path = "log.slow-claim",
                    range = "0s … 1m",
                    unset = "0s",
                    doc = "A claim that is answered later than this gets a line with its packet, shard and outcome; 0s"
                            + " for none.")
            Duration slowClaim) {
        /** Without access lines and slow claims. */
        public LogConfig(Format format, Level level) {
            this(format, level, Access.OFF, Duration.ZERO);
        }

        /** Whether each answer gets a line. */
        public enum Access {
            OFF,
            ON
        }

        public enum Format {
            TEXT,
            /** One JSON object a line, for machines. */
            JSON
        }

        /** The least severe event that is written. */
        public enum Level {
            TRACE,
            DEBUG,
            INFO,
            WARN,
            ERROR
        }

        /** Whether stack traces of a failed start are shown. */
        public boolean isDebug() {
            return level.compareTo(Level.DEBUG) <= 0;
        }
    }

    /** The configuration has faults. Carries all of them, and no stack trace, since people read it. */
    public static final class ConfigException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient List<Fault> faults;

        public ConfigException(List<Fault> faults) {
            super(
                    "the configuration has " + (faults.size() == 1 ? "a fault" : faults.size() + " faults") + ":\n"
                            + faults.stream().map(fault -> "  " + fault).collect(Collectors.joining("\n")),
                    null,
                    false,
                    false);
            this.faults = List.copyOf(faults);
        }

        /** At least one. */
        public List<Fault> faults() {
            return faults;
        }

        /**
         * A fault of the configuration.
         *
         * @param path the option's path, or the unknown name as given
         * @param origin the value's source: {@code conf/hongbao.yaml line 3}, {@code environment variable HONGBAO_HTTP_PORT},
         *     {@code flag --http-port}
         * @param problem the fault and the allowed values; without secrets
         */
        public record Fault(String path, String origin, String problem) {
            @Override
            public String toString() {
                return path + " (" + origin + "): " + problem;
            }
        }
    }
}
