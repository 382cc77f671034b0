package dev.hongbao.common.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Every option, once. The order is the order of the documentation. */
public final class Options {
    private static final List<Option<?>> REGISTRY = new ArrayList<>();

    // What holds the server's own files
    static final Option<Path> DATA_DIR = define(
            "data.dir",
            OptionType.directory(),
            "./data",
            "Where the token key and the embedded Redis and Postgres keep their files.");

    // The face for clients
    static final Option<String> HTTP_HOST =
            define("http.host", OptionType.host(), "127.0.0.1", "Address the API listens on.", "--host");
    static final Option<Integer> HTTP_PORT = define(
            "http.port", OptionType.integer(0, 65_535, ""), "8080", "Port of the API; 0 takes a free one.", "--port");
    static final Option<Integer> HTTP_EVENT_LOOPS = define(
            "http.event-loops",
            OptionType.integer(0, 256, "threads"),
            "0",
            "Event loops that serve requests; 0 is one per core.");
    static final Option<Integer> HTTP_MAX_BODY = define(
            "http.max-body", OptionType.size("1KiB", "16MiB"), "128KiB", "A larger request body is refused (413).");
    static final Option<Duration> HTTP_IDLE_TIMEOUT = define(
            "http.idle-timeout", OptionType.duration("1s", "1h"), "1m", "A connection silent for so long is closed.");
    static final Option<Duration> HTTP_ANSWER_TIMEOUT = define(
            "http.answer-timeout",
            OptionType.duration("100ms", "1h"),
            "10s",
            "A call whose answer the stores keep back for so long gets 503 unknown; claims have claim.settle-timeout, exports none.");
    static final Option<Duration> HTTP_DRAIN_DELAY = define(
            "http.drain-delay",
            OptionType.duration("0s", "5m"),
            "0s",
            "How long the server, once told to stop, says that it is not ready and still serves. Longer than the load balancer takes to notice.");
    static final Option<Integer> HTTP_MAX_CONNECTIONS = define(
            "http.max-connections",
            OptionType.integer(1, 1_000_000, "connections"),
            "20000",
            "Connections open at once, WebSockets among them, counted after their TLS handshake; then the one idle longest makes room, else new ones are closed.");
    static final Option<Integer> HTTP_MAX_PER_ADDRESS = define(
            "http.max-per-address",
            OptionType.integer(1, 1_000_000, "connections"),
            "1000",
            "Connections of one address, counted after their TLS handshake; further ones are closed. Of IPv6 a /64 counts as one; proxies and loopback are exempt.");
    static final Option<List<String>> HTTP_ORIGINS = define(
            "http.origins",
            OptionType.origins(),
            "",
            "Whose pages may call (CORS) and open a WebSocket; on a loopback address this server's own page may too.");
    static final Option<List<AddressRange>> HTTP_TRUSTED_PROXIES = define(
            "http.trusted-proxies",
            OptionType.addressRanges(),
            "",
            "Proxies whose word about a client's address is believed, for socket.max-per-address and the audit log; http.max-per-address does not count them. With http.proxy-protocol only they may connect.");
    static final Option<HttpConfig.Forwarded> HTTP_FORWARDED_HEADER = define(
            "http.forwarded-header",
            OptionType.oneOf(HttpConfig.Forwarded.class, HttpConfig.Forwarded::wireName),
            "X-Forwarded-For",
            "The header in which they tell it. No other header is read, since a proxy passes it on as the client wrote it.");

    static final Option<HttpConfig.ProxyProtocol> HTTP_PROXY_PROTOCOL = define(
            "http.proxy-protocol",
            OptionType.oneOf(
                    HttpConfig.ProxyProtocol.class, protocol -> protocol.name().toLowerCase(Locale.ROOT)),
            "off",
            "Whether each connection begins with the PROXY protocol, version 1 or 2, which tells its client's address. On closes those without, and"
                    + " those that do not come from http.trusted-proxies.");
    static final Option<Optional<Path>> HTTP_TLS_CERTIFICATE = define(
            "http.tls-certificate",
            OptionType.file(),
            "",
            "This server's certificate (PEM), followed by its intermediate certificates, for TLS 1.2 and 1.3, HTTP/2 and wss. Read again when"
                    + " it changes. Empty is no TLS.");
    static final Option<Optional<Path>> HTTP_TLS_KEY =
            define("http.tls-key", OptionType.file(), "", "Its key (PEM). Read again when it changes.");
    static final Option<Optional<Path>> HTTP_TLS_CLIENT_AUTHORITY = define(
            "http.tls-client-authority",
            OptionType.file(),
            "",
            "The certificate (PEM) of who signs the host application's: a token of the service role is then believed only on a connection that"
                    + " shows one of these. Users need none.");

    // The face for operators
    static final Option<String> MANAGEMENT_HOST = define(
            "management.host",
            OptionType.host(),
            "127.0.0.1",
            "Address of health checks and metrics. On loopback they answer only to loopback's names; on any other address to every"
                    + " name, so keep it where only operators and Prometheus reach it.");
    static final Option<Integer> MANAGEMENT_PORT = define(
            "management.port",
            OptionType.integer(0, 65_535, ""),
            "9090",
            "Port of health checks and metrics; 0 takes a free one, also by default when http.port is 0.");
    static final Option<Optional<Path>> MANAGEMENT_TLS_CERTIFICATE = define(
            "management.tls-certificate",
            OptionType.file(),
            "",
            "A certificate (PEM) for that port, as http.tls-certificate is for the API's. Empty is no TLS: health checks are plain.");
    static final Option<Optional<Path>> MANAGEMENT_TLS_KEY =
            define("management.tls-key", OptionType.file(), "", "Its key (PEM). Read again when it changes.");

    static final Option<Optional<SecretUrl>> CONSOLE_OIDC_ISSUER = define(
            "console.oidc-issuer",
            OptionType.webUrl(),
            "",
            "The OpenID provider whose users may enter the console, named as its discovery document names itself. The access tokens that"
                    + " it gives must be ones that this server believes, of role service. Empty: only a token that is pasted enters.");
    static final Option<Optional<String>> CONSOLE_OIDC_CLIENT_ID = define(
            "console.oidc-client-id",
            OptionType.text(256),
            "",
            "What the provider calls the console: a public client, with the console's address as its redirect URI.");
    static final Option<String> CONSOLE_OIDC_SCOPE = define(
            "console.oidc-scope",
            OptionType.line(256),
            "openid",
            "What the console asks the provider for, with spaces between: maybe more, so that the token has its audience and role.");

    // The stores
    static final Option<Optional<SecretUrl>> REDIS_URL = define(
            "redis.url",
            OptionType.redisUrl(),
            "",
            "The Redis that decides who was first: one server, some nodes of a Redis Cluster, or the sentinels of one; empty starts"
                    + " one as a child process.");
    static final Option<Optional<Path>> REDIS_URL_FILE = defineFileOf(REDIS_URL);
    static final Option<Optional<String>> REDIS_NAMESPACE = define(
            "redis.namespace",
            OptionType.name(16),
            "",
            "What every key in Redis names, so that installations can share one; empty takes it from an id in Postgres. A copy of"
                    + " a database that works on the same Redis needs another.");
    static final Option<Duration> REDIS_COMMAND_TIMEOUT = define(
            "redis.command-timeout",
            OptionType.duration("10ms", "1m"),
            "2s",
            "A Redis command without an answer for so long counts as unknown.");
    static final Option<Optional<SecretUrl>> POSTGRES_URL = define(
            "postgres.url",
            OptionType.postgresUrl(),
            "",
            "The Postgres that holds the truth; empty starts one as a child process.");
    static final Option<Optional<Path>> POSTGRES_URL_FILE = defineFileOf(POSTGRES_URL);
    static final Option<Optional<SecretUrl>> POSTGRES_OWNER_URL = define(
            "postgres.owner-url",
            OptionType.postgresUrl(),
            "",
            "The same database as the role that owns the tables, for migrations; empty is postgres.url.");
    static final Option<Optional<Path>> POSTGRES_OWNER_URL_FILE = defineFileOf(POSTGRES_OWNER_URL);
    static final Option<Integer> POSTGRES_POOL_SIZE = define(
            "postgres.pool-size",
            OptionType.integer(2, 200, "connections"),
            "8",
            "Connections to Postgres for requests.");
    static final Option<Integer> POSTGRES_MAX_WAIT_QUEUE = define(
            "postgres.max-wait-queue",
            OptionType.integer(1, 100_000, "requests"),
            "1000",
            "Requests that may wait for a connection; further ones get 503.");

    // Who may call
    static final Option<TokenConfig.Algorithm> TOKEN_ALGORITHM = define(
            "token.algorithm",
            OptionType.oneOf(TokenConfig.Algorithm.class, Enum::name),
            "HS256",
            "The one signature that tokens may carry.");
    static final Option<Optional<Path>> TOKEN_SECRET_FILE = define(
            "token.secret-file",
            OptionType.file(),
            "",
            "HS256: the file with the shared secret; empty is token.key in data.dir, made at first use.");
    static final Option<List<Path>> TOKEN_FURTHER_SECRET_FILES = define(
            "token.further-secret-files",
            OptionType.files(),
            "",
            "HS256: files with further secrets whose tokens are believed as well: the next one or the last one, while the secret"
                    + " is being changed.");
    static final Option<List<Path>> TOKEN_PUBLIC_KEY_FILES = define(
            "token.public-key-files",
            OptionType.files(),
            "",
            "RS256 and ES256: PEM files with the issuer's public keys.");
    static final Option<Optional<Path>> TOKEN_JWKS_FILE = define(
            "token.jwks-file", OptionType.file(), "", "RS256 and ES256: a JWKS file with the issuer's public keys.");
    static final Option<Optional<SecretUrl>> TOKEN_JWKS_URL = define(
            "token.jwks-url",
            OptionType.webUrl(),
            "",
            "RS256 and ES256: where the issuer publishes its public keys as JWKS: at most 256 KiB, within 10 s, no redirect. A start"
                    + " needs it, unless files hold keys as well.");
    static final Option<Optional<Path>> TOKEN_JWKS_URL_FILE = defineFileOf(TOKEN_JWKS_URL);
    static final Option<Duration> TOKEN_REFRESH_INTERVAL = define(
            "token.refresh-interval",
            OptionType.duration("1s", "1h"),
            "1m",
            "How often the files and the URL above are read again, so that keys change without a restart. What cannot be read"
                    + " changes nothing; token.key in data.dir is read at the start only.");
    static final Option<Optional<String>> TOKEN_ISSUER =
            define("token.issuer", OptionType.text(256), "", "The iss that tokens must have; empty takes any.");
    static final Option<Optional<String>> TOKEN_AUDIENCE =
            define("token.audience", OptionType.text(256), "", "The aud that tokens must have; empty takes any.");
    static final Option<Duration> TOKEN_MAX_LIFE = define(
            "token.max-life",
            OptionType.duration("1m", "365d"),
            "31d",
            "A token whose exp is further away is refused, so that a lost token cannot be used for ever.");

    // The domain's limits
    static final Option<List<DeclaredAsset>> ASSETS_DECLARED = define(
            "assets.declared",
            OptionType.assets(),
            "CNY:2:¥,POINTS:0:POINTS",
            "Assets that a start declares when nobody has: code, digits behind the point, symbol. POST /v1/assets declares more, and caps.");
    static final Option<Duration> PACKET_DEFAULT_EXPIRY = define(
            "packet.default-expiry",
            OptionType.duration("1s", "365d"),
            "24h",
            "A packet expires so long after it was sent, when its sender says nothing.");
    static final Option<Duration> PACKET_MAX_EXPIRY = define(
            "packet.max-expiry", OptionType.duration("1s", "365d"), "7d", "The longest expiry a sender may ask for.");
    static final Option<Integer> PACKET_MAX_COUNT = define(
            "packet.max-count",
            OptionType.integer(1, 100_000, "shares"),
            "10000",
            "Shares in one packet. Each is drawn and written when it is sent, whoever claims it: some 10 ms of a core at 10,000.");
    static final Option<Integer> CLAIM_BATCH_SIZE = define(
            "claim.batch-size", OptionType.integer(1, 256, "claims"), "256", "Claims in one call of the claim script.");
    static final Option<Duration> CLAIM_SETTLE_TIMEOUT = define(
            "claim.settle-timeout",
            OptionType.duration("100ms", "1m"),
            "2s",
            "A claim not settled after so long is answered 503, unknown; asking again gives the same claim.");
    static final Option<Integer> CLAIM_MAX_WAITING = define(
            "claim.max-waiting",
            OptionType.integer(1, 10_000_000, "claims"),
            "10000",
            "Claims waiting for their answer in this server; further ones get 503. As many as it settles in half a second"
                    + " is plenty: who waits longer than claim.settle-timeout gets 503 anyway.");
    static final Option<ClaimConfig.Admission> CLAIM_ADMISSION = define(
            "claim.admission",
            OptionType.oneOf(
                    ClaimConfig.Admission.class, admission -> admission.name().toLowerCase(Locale.ROOT)),
            "on",
            "When more claims or plays come than can be settled: on lets in what is settled in half of claim.settle-timeout,"
                    + " measured over all servers, and refuses the rest at once; off lets in claim.max-waiting on each"
                    + " server.");
    static final Option<Duration> JOURNAL_POLL_INTERVAL = define(
            "journal.poll-interval",
            OptionType.duration("10ms", "1s"),
            "100ms",
            "How often an idle shard looks into its journal.");
    static final Option<Integer> JOURNAL_MAX_ENTRIES = define(
            "journal.max-entries",
            OptionType.integer(256, 10_000_000, "entries"),
            "100000",
            "Journal entries, of up to 256 claims each, that a shard may hold unsettled; beyond, claims get 503.");
    static final Option<Integer> SHARDS = define(
            "shards",
            OptionType.integer(1, 256, "shards"),
            "16",
            "Fractions of packets with a journal each; fixed in Postgres at the first start. Over three masters of a Redis Cluster 64 fall evenly"
                    + " enough.");
    static final Option<Duration> FEED_POLL_INTERVAL = define(
            "feed.poll-interval",
            OptionType.duration("20ms", "5s"),
            "100ms",
            "How often to look for what other servers wrote into the groups' feeds.");
    static final Option<Duration> FEED_RETENTION = define(
            "feed.retention",
            OptionType.duration("1m", "30d"),
            "24h",
            "How long events are kept for clients that were away; of a group, the newest 1000.");

    // News for the host application
    static final Option<Duration> OUTBOX_RETENTION = define(
            "outbox.retention",
            OptionType.duration("1m", "365d"),
            "7d",
            "How long the outbox is kept for a host that was away.");
    static final Option<Integer> OUTBOX_MAX_ROWS = define(
            "outbox.max-rows",
            OptionType.integer(1_000, 100_000_000, "rows"),
            "1000000",
            "Rows of the outbox; beyond, the oldest go early. A row is all of one shard that a statement settled.");
    static final Option<Duration> WEBHOOKS_TIMEOUT = define(
            "webhooks.timeout",
            OptionType.duration("100ms", "1m"),
            "15s",
            "A webhook's receiver that has not answered after so long has failed.");
    static final Option<Duration> WEBHOOKS_MAX_WAIT = define(
            "webhooks.max-wait",
            OptionType.duration("100ms", "7d"),
            "24h",
            "The longest wait before a failed delivery is tried again. It begins with 1s and doubles.");
    static final Option<Duration> WEBHOOKS_DISABLE_AFTER = define(
            "webhooks.disable-after",
            OptionType.duration("1s", "30d"),
            "5d",
            "A webhook that fails for so long is disabled; the outbox waits for it no more.");
    static final Option<Duration> WEBHOOKS_SECRET_OVERLAP = define(
            "webhooks.secret-overlap",
            OptionType.duration("1s", "30d"),
            "24h",
            "When a webhook gets a new secret, messages are signed with the old one as well for so long.");
    static final Option<List<AddressRange>> WEBHOOKS_PRIVATE_NETWORKS = define(
            "webhooks.private-networks",
            OptionType.addressRanges(),
            "",
            "Networks that are not public and that webhooks may lead to all the same, there also over plain http.");
    static final Option<Optional<Path>> WEBHOOKS_TLS_AUTHORITY = define(
            "webhooks.tls-authority",
            OptionType.file(),
            "",
            "Certificates (PEM) of who may have signed those of webhooks' receivers, besides whom the JVM trusts.");

    // What goes between servers
    static final Option<List<String>> CLUSTER_MEMBERS = define(
            "cluster.members",
            OptionType.members(),
            "",
            "Where servers of the same stores listen, or a DNS name that resolves to all of them: a claim is then settled nearly as fast"
                    + " on every server, while the machines are not full. Empty starts nothing of it; servers share the work without it, too.");
    static final Option<String> CLUSTER_HOST = define(
            "cluster.host",
            OptionType.reachableHost(),
            "127.0.0.1",
            "This server's address for the others. Whoever reaches it can speak to the cluster: a private network only.");
    static final Option<Integer> CLUSTER_PORT = define(
            "cluster.port",
            OptionType.integer(1, 65_534, ""),
            "5701",
            "Port of the membership; the messages go over the one after it.");
    static final Option<String> CLUSTER_NAME =
            define("cluster.name", OptionType.word(64), "hongbao", "Servers with another name do not join.");
    static final Option<Optional<Path>> CLUSTER_TLS_CERTIFICATE = define(
            "cluster.tls-certificate",
            OptionType.file(),
            "",
            "This server's certificate (PEM) for the messages between servers; empty is no TLS. The membership has none in any case.");
    static final Option<Optional<Path>> CLUSTER_TLS_KEY =
            define("cluster.tls-key", OptionType.file(), "", "Its key (PEM, PKCS#8).");
    static final Option<Optional<Path>> CLUSTER_TLS_AUTHORITY = define(
            "cluster.tls-authority",
            OptionType.file(),
            "",
            "The certificate (PEM) of who has signed those of all servers; others are refused.");

    // The socket's guards
    static final Option<Integer> SOCKET_MAX_FRAME = define(
            "socket.max-frame", OptionType.size("1KiB", "1MiB"), "64KiB", "A larger frame closes its connection.");
    static final Option<Integer> SOCKET_MESSAGES_PER_SECOND = define(
            "socket.messages-per-second",
            OptionType.integer(1, 100_000, "messages a second"),
            "20",
            "Frames of one connection, twice as many at once; one that goes on regardless is closed.");
    static final Option<Integer> SOCKET_MAX_GROUPS = define(
            "socket.max-groups", OptionType.integer(1, 1_000, "groups"), "50", "Groups that one connection follows.");
    static final Option<Integer> SOCKET_MAX_PER_USER = define(
            "socket.max-per-user",
            OptionType.integer(1, 1_000_000, "connections"),
            "10",
            "Connections of one user on this server.");
    static final Option<Integer> SOCKET_MAX_PER_ADDRESS = define(
            "socket.max-per-address",
            OptionType.integer(1, 1_000_000, "connections"),
            "1000",
            "Connections of one address on this server, as http.max-per-address counts them; behind a proxy, the client's address.");
    static final Option<Integer> SOCKET_MAX_UNAUTHENTICATED = define(
            "socket.max-unauthenticated",
            OptionType.integer(1, 1_000_000, "connections"),
            "4000",
            "Connections on this server that have not sent a token yet; further ones get 503. More than one address may have.");
    static final Option<Duration> SOCKET_AUTH_TIMEOUT = define(
            "socket.auth-timeout",
            OptionType.duration("100ms", "1m"),
            "5s",
            "A connection that has not sent a token after so long is closed.");
    static final Option<Duration> SOCKET_IDLE_TIMEOUT = define(
            "socket.idle-timeout",
            OptionType.duration("1s", "1h"),
            "75s",
            "A connection not heard of for so long is closed; it is pinged three times meanwhile.");
    static final Option<Duration> SOCKET_SLOW_TIMEOUT = define(
            "socket.slow-timeout",
            OptionType.duration("100ms", "5m"),
            "10s",
            "A reader that takes nothing for so long is closed, and goes on from its cursor; over HTTP, one that takes less than 64 KiB of an"
                    + " answer.");

    static final Option<Integer> LIMITS_CLAIMS_PER_SECOND = define(
            "limits.claims-per-second",
            OptionType.integer(0, 1_000_000, "claims a second"),
            "20",
            "Claims of one user; 0 is no limit.");
    static final Option<Integer> LIMITS_REQUESTS_PER_SECOND = define(
            "limits.requests-per-second",
            OptionType.integer(0, 1_000_000, "requests a second"),
            "50",
            "Other requests of one user; 0 is no limit.");
    static final Option<Integer> LIMITS_SHARES_PER_SECOND = define(
            "limits.shares-per-second",
            OptionType.integer(0, 1_000_000, "shares a second"),
            "1000",
            "Shares of the packets that one user sends; as many as the largest packet has at once; 0 is no limit.");
    static final Option<Integer> LIMITS_CALLS_IN_FLIGHT = define(
            "limits.calls-in-flight",
            OptionType.integer(0, 1_000_000, "calls"),
            "6",
            "Calls of one user under way at once, claims not counted; further ones get 429; 0 is no limit."
                    + " Fewer than postgres.pool-size, so that nobody takes it all; as many as a browser sends.");
    static final Option<Integer> LIMITS_SERVICE_CALLS_IN_FLIGHT = define(
            "limits.service-calls-in-flight",
            OptionType.integer(0, 1_000_000, "calls"),
            "500",
            "The same for a caller with the service role, which calls for all users.");
    static final Option<Integer> LIMITS_POLLS_IN_FLIGHT = define(
            "limits.polls-in-flight",
            OptionType.integer(0, 1_000_000, "polls"),
            "50",
            "Polls of one caller that wait for news of groups at once; 0 is no limit.");
    static final Option<Integer> LIMITS_WRONG_PASSCODES_PER_MINUTE = define(
            "limits.wrong-passcodes-per-minute",
            OptionType.integer(0, 1_000_000, "tries a minute"),
            "5",
            "Wrong passcodes of one user for one packet; 0 is no limit.");
    static final Option<Integer> LIMITS_WRONG_PASSCODES_PER_PACKET = define(
            "limits.wrong-passcodes-per-packet",
            OptionType.integer(0, 1_000_000, "tries an hour"),
            "100",
            "Wrong passcodes of one packet, of all users on all servers; beyond, each user has one guess a minute; 0 is no limit.");
    static final Option<Duration> IDEMPOTENCY_RETENTION = define(
            "idempotency.retention",
            OptionType.duration("24h", "365d"),
            "48h",
            "How long an Idempotency-Key is remembered.");
    static final Option<IdempotencyConfig.References> IDEMPOTENCY_REFERENCES = define(
            "idempotency.references",
            OptionType.oneOf(
                    IdempotencyConfig.References.class,
                    references -> references.name().toLowerCase(Locale.ROOT)),
            "any",
            "How many commands one reference of the host may name: any, or unique, and then a second one is refused (409). Of all servers"
                    + " the one that started last says.");

    static final Option<Duration> AUDIT_RETENTION = define(
            "audit.retention",
            OptionType.duration("365d", "36500d"),
            "1095d",
            "How long it is known who called what and who was refused, and what is over of restrictions and revocations. What moved money is known"
                    + " for ever.");

    static final Option<Duration> RECONCILE_EVERY = define(
            "reconcile.every",
            OptionType.duration("0s", "30d"),
            "24h",
            "How often the books are checked in the background, by one of the servers: what is new since the checkpoint; 0s is never.");

    // The page that comes with the server
    static final Option<List<String>> PAGE_IMAGES = define(
            "page.images",
            OptionType.secureOrigins(),
            "",
            "Where the page loads pictures of users from; without any it draws their initials. Who runs such a place sees the addresses of"
                    + " those who look.");

    // What operators read
    static final Option<LogConfig.Format> LOG_FORMAT = define(
            "log.format",
            OptionType.oneOf(LogConfig.Format.class, format -> format.name().toLowerCase(Locale.ROOT)),
            "text",
            "Lines for people, or JSON for machines; on stderr.");
    static final Option<LogConfig.Level> LOG_LEVEL = define(
            "log.level",
            OptionType.oneOf(LogConfig.Level.class, level -> level.name().toLowerCase(Locale.ROOT)),
            "info",
            "The least severe of Hongbao's own events to write; debug also shows stack traces of a failed start.");

    static final Option<LogConfig.Access> LOG_ACCESS = define(
            "log.access",
            OptionType.oneOf(LogConfig.Access.class, access -> access.name().toLowerCase(Locale.ROOT)),
            "off",
            "Whether each answer is a line: method, path, status, time, the request's id and its trace.");
    static final Option<Duration> LOG_SLOW_CLAIM = define(
            "log.slow-claim",
            OptionType.duration("0s", "1m"),
            "0s",
            "A claim whose answer takes longer is a line with its packet, its shard and its outcome; 0s is none.");

    /** Every option, in the order of the documentation. */
    public static final List<Option<?>> ALL = List.copyOf(REGISTRY);

    private Options() {}

    /** What may hold a password may stand in a file of its own: {@link SecretFiles} reads it. */
    private static Option<Optional<Path>> defineFileOf(Option<Optional<SecretUrl>> option) {
        return define(
                SecretFiles.pathFor(option),
                OptionType.file(),
                "",
                "A file that holds " + option.path() + " and nothing else: give one of the two.");
    }

    private static <T> Option<T> define(
            String path, OptionType<T> type, String defaultText, String doc, String... shortFlags) {
        Option<T> option = new Option<>(path, type, defaultText, doc, Arrays.asList(shortFlags));
        REGISTRY.add(option);
        return option;
    }
}
