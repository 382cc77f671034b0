package dev.hongbao.store.redis;

import dev.hongbao.values.ShortLivedClient;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection to Redis, pinned to its event loop. It pipelines commands, and reconnects until it is closed. Use it on that
 * loop only. For a single Redis server, it is the route of every key.
 *
 * <p>A command fails with {@link RedisFault.Kind#LOST} if its connection breaks or its reply exceeds the timeout: it may have
 * run. The connection is then dropped, since later replies would be late, too.
 */
final class ServerLink implements RedisLink, RedisLinks {
    private static final Logger LOG = LoggerFactory.getLogger(ServerLink.class);

    /** Pauses between attempts to connect: doubled each time, from the first to the last. */
    private static final long FIRST_RETRY_MILLIS = 20;

    private static final long LAST_RETRY_MILLIS = 500;

    /** Between two checks of the address: while the scripts are really lost, checks do not help. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Commands on the wire. The batcher and the writer keep far fewer in flight. */
    private static final int MAX_IN_FLIGHT = 8192;

    private final Vertx vertx;
    private final Context context;
    private final Supplier<Future<RedisOptions>> where;
    private final String name;
    private final Consumer<RedisConnection> opened;
    private final long timeoutMillis;
    private final Promise<Void> firstTry = Promise.promise();
    private @Nullable Redis client;
    private @Nullable RedisConnection connection;
    private String endpoint = "";
    private long retryMillis = FIRST_RETRY_MILLIS;
    private boolean away;
    /** The latest attempt's fault that the log has; empty for none since it was connected. */
    private String told = "";

    private boolean closed;
    private boolean looking;
    private long lookedNanos = System.nanoTime() - LOOK_NANOS;

    /**
     * Does not connect yet.
     *
     * @param where the server's options; asked before each attempt to connect
     * @param timeout for connecting and for each reply
     * @param name for the log
     */
    ServerLink(Vertx vertx, Supplier<Future<RedisOptions>> where, Duration timeout, String name) {
        this(vertx, where, timeout, name, connection -> {});
    }

    /** @param opened gets each new connection, before any command is sent on it */
    ServerLink(
            Vertx vertx,
            Supplier<Future<RedisOptions>> where,
            Duration timeout,
            String name,
            Consumer<RedisConnection> opened) {
        this.vertx = vertx;
        this.context = vertx.getOrCreateContext();
        this.name = name;
        this.timeoutMillis = timeout.toMillis();
        this.where = where;
        this.opened = opened;
    }

    private Redis client(RedisOptions options) {
        options.setPoolName(name).setMaxPoolSize(1).setMaxPoolWaiting(4).setMaxWaitingHandlers(MAX_IN_FLIGHT);
        options.getNetClientOptions()
                .setHostnameVerificationAlgorithm("HTTPS") // for rediss; without an algorithm Vert.x refuses to connect
                .setConnectTimeout((int) timeoutMillis)
                .setTcpNoDelay(true)
                .setTcpKeepAlive(true);
        return ShortLivedClient.make(vertx, () -> Redis.createClient(vertx, options));
    }

    /**
     * Opens a link on the current event loop. Succeeds once connected. Fails if the first attempt fails, and then leaves nothing
     * open.
     *
     * @param options the server's; with {@code rediss://} its certificate must name the host, and this JVM must trust it
     * @param timeout for connecting and for each reply
     * @param name for the log
     */
    static Future<ServerLink> open(Vertx vertx, RedisOptions options, Duration timeout, String name) {
        return new ServerLink(vertx, () -> Future.succeededFuture(options), timeout, name).connectFirst();
    }

    /** Succeeds once connected. Fails if the first attempt fails, and then leaves nothing open. */
    Future<ServerLink> connectFirst() {
        return connect().map(this).recover(fault -> {
            close();
            return Future.failedFuture(fault);
        });
    }

    /** Returns a link at once. It tries to connect until it is closed. */
    static ServerLink start(Vertx vertx, RedisOptions options, Duration timeout, String name) {
        ServerLink link = new ServerLink(vertx, () -> Future.succeededFuture(options), timeout, name);
        link.reconnect();
        return link;
    }

    /** For a started link: completes once it was connected for the first time, or the first attempt failed. */
    Future<Void> firstTry() {
        return firstTry.future();
    }

    /** The address of its connection or of its last attempt; empty before the first one. */
    String endpoint() {
        return endpoint;
    }

    @Override
    public String toString() {
        return name;
    }

    @Override
    public boolean isConnected() {
        return connection != null;
    }

    @Override
    public RedisLink server() {
        return this;
    }

    @Override
    public RedisLink linkFor(String key) {
        return this;
    }

    @Override
    public List<RedisLink> servers() {
        return List.of(this);
    }

    @Override
    public Future<@Nullable Response> send(Request request) {
        RedisConnection open = connection;
        if (open == null) {
            return Future.failedFuture(RedisFault.down());
        }
        return open.send(request).timeout(timeoutMillis, TimeUnit.MILLISECONDS).recover(fault -> {
            RedisFault known = RedisFault.of(fault);
            // A replica's address may lead to the primary when it is resolved again.
            if (known.kind() == RedisFault.Kind.LOST || known.kind() == RedisFault.Kind.READ_ONLY) {
                drop(open);
            }
            return Future.failedFuture(known);
        });
    }

    @Override
    public Subscription subscribe(List<String> channels, BiConsumer<String, Buffer> heard) {
        return new Subscription(vertx, where, Duration.ofMillis(timeoutMillis), name, channels, heard);
    }

    @Override
    public Future<Void> close() {
        closed = true;
        connection = null;
        return closeClient();
    }

    /**
     * Makes a client for each connection: closing it closes the socket. A pool would reuse a connection that is only late, and
     * would wait for ever for one whose handshake hangs.
     */
    private Future<Void> connect() {
        return where.get()
                .compose(options -> {
                    if (closed) {
                        return Future.failedFuture(RedisFault.down());
                    }
                    Redis fresh = client(options);
                    client = fresh;
                    endpoint = options.getEndpoint();
                    return fresh.connect().timeout(timeoutMillis, TimeUnit.MILLISECONDS);
                })
                .compose(fresh -> {
                    if (closed) {
                        return Future.failedFuture(RedisFault.down());
                    }
                    connection = fresh;
                    firstTry.tryComplete();
                    fresh.endHandler(end -> drop(fresh));
                    fresh.exceptionHandler(fault -> drop(fresh));
                    opened.accept(fresh);
                    return Future.succeededFuture();
                });
    }

    private Future<Void> closeClient() {
        Redis open = client;
        client = null;
        return open == null ? Future.succeededFuture() : open.close();
    }

    /** Drops the connection and connects anew, to the current address. The outcome of commands in flight is unknown. */
    void leave() {
        RedisConnection open = connection;
        if (open != null) {
            drop(open);
        }
    }

    @Override
    public Future<Void> leaveIfOutdated(Function<RedisLink, Future<Boolean>> hasIt) {
        RedisConnection open = connection;
        if (open == null || looking || System.nanoTime() - lookedNanos < LOOK_NANOS) {
            return Future.succeededFuture();
        }
        looking = true;
        lookedNanos = System.nanoTime();
        return new ServerLink(vertx, where, Duration.ofMillis(timeoutMillis), name)
                .connectFirst()
                .compose(fresh -> hasIt.apply(fresh)
                        .compose(there -> there ? hasIt.apply(this).map(here -> !here) : Future.succeededFuture(false))
                        .eventually(fresh::close))
                .otherwise(false)
                .map(outdated -> {
                    looking = false;
                    if (outdated && connection == open) {
                        LOG.warn("Redis link {} was connected to a server that its address no longer names", name);
                        drop(open);
                    }
                    return null;
                });
    }

    private void drop(RedisConnection broken) {
        if (connection != broken) {
            return;
        }
        connection = null;
        if (((ContextInternal) context).nettyEventLoop().isShuttingDown()) {
            return; // Vert.x closes and ended the connection
        }
        closeClient();
        if (!closed) {
            LOG.warn("Redis link {} lost, reconnecting", name);
            away = true;
            vertx.setTimer(retryMillis, timer -> reconnect());
        }
    }

    private void tell(String fault) {
        if (!fault.equals(told)) {
            told = fault;
            LOG.warn("Redis link {} cannot connect, trying again: {}", name, fault);
        }
    }

    /** Connects in the background, again and again until it succeeds. */
    void reconnect() {
        if (closed || connection != null) {
            return;
        }
        // A connect that its closing client cut short fails on another thread.
        connect()
                .onComplete(tried -> context.runOnContext(now -> {
                    firstTry.tryComplete();
                    if (tried.succeeded()) {
                        if (away) {
                            LOG.info("Redis link {} is back", name);
                            away = false;
                        }
                        told = "";
                        retryMillis = FIRST_RETRY_MILLIS;
                        return;
                    }
                    closeClient();
                    if (!closed) {
                        tell(String.valueOf(tried.cause().getMessage()));
                        away = true;
                        vertx.setTimer(retryMillis, timer -> reconnect());
                        retryMillis = Math.min(LAST_RETRY_MILLIS, retryMillis * 2);
                    }
                }));
    }
}
