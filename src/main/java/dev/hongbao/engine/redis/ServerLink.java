package dev.hongbao.engine.redis;

import dev.hongbao.common.vertx.ShortLivedClient;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
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
 * One connection to Redis, pinned to the event loop it was made on, pipelining what is sent to it, and reconnecting for as
 * long as it is open. Use it on that loop only.
 *
 * <p>A command whose connection breaks or whose reply takes longer than the timeout fails with {@link
 * RedisFault#LOST}: it may have run. The connection is then dropped, since later replies would be late too.
 */
public final class ServerLink implements RedisLink {
    private static final Logger LOG = LoggerFactory.getLogger(ServerLink.class);

    /** Between tries to connect: doubled each time, from the first to the second. */
    private static final long FIRST_RETRY_MILLIS = 20;

    private static final long LAST_RETRY_MILLIS = 500;

    /** Between two looks whether the address leads elsewhere: while scripts are really lost, no look helps. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Commands on the wire; what the batcher and the writer keep in flight is far less. */
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
    private boolean closed;
    private boolean looking;
    private long lookedNanos = System.nanoTime() - LOOK_NANOS;

    /**
     * Does not connect yet.
     *
     * @param where it is; asked before each try to connect
     * @param timeout for connecting and for each reply
     * @param name for the log
     */
    ServerLink(Vertx vertx, Supplier<Future<RedisOptions>> where, Duration timeout, String name) {
        this(vertx, where, timeout, name, connection -> {});
    }

    /** @param opened gets each new connection, before anything is sent on it */
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
                .setHostnameVerificationAlgorithm("HTTPS") // for rediss; without any Vert.x refuses to connect
                .setConnectTimeout((int) timeoutMillis)
                .setTcpNoDelay(true)
                .setTcpKeepAlive(true);
        return ShortLivedClient.make(vertx, () -> Redis.createClient(vertx, options));
    }

    /**
     * Opens a link on the current event loop. The future succeeds once connected; it fails when the first try does, and then
     * nothing is left open.
     *
     * @param options where it is; with {@code rediss://} its certificate has to name the host, and this JVM has to trust it
     * @param timeout for connecting and for each reply
     * @param name for the log
     */
    static Future<ServerLink> open(Vertx vertx, RedisOptions options, Duration timeout, String name) {
        return new ServerLink(vertx, () -> Future.succeededFuture(options), timeout, name).connectFirst();
    }

    /** Completes once connected; fails when that fails, and then nothing is left open. */
    Future<ServerLink> connectFirst() {
        return connect().map(this).recover(fault -> {
            close();
            return Future.failedFuture(fault);
        });
    }

    /** The same, but it is there at once, and tries to connect until it is closed. */
    static ServerLink start(Vertx vertx, RedisOptions options, Duration timeout, String name) {
        ServerLink link = new ServerLink(vertx, () -> Future.succeededFuture(options), timeout, name);
        link.reconnect();
        return link;
    }

    /** Of a link that was started: completes when it was connected for the first time, or could not be. */
    Future<Void> firstTry() {
        return firstTry.future();
    }

    /** Where it is connected to, or tried to connect last; empty before it tried. */
    String endpoint() {
        return endpoint;
    }

    /** Its name in the log. */
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
    public Future<@Nullable Response> send(Request request) {
        RedisConnection open = connection;
        if (open == null) {
            return Future.failedFuture(RedisFault.down());
        }
        return open.send(request).timeout(timeoutMillis, TimeUnit.MILLISECONDS).recover(fault -> {
            RedisFault known = RedisFault.of(fault);
            // A replica's address may lead to the primary when it is asked for again.
            if (known.kind() == RedisFault.Kind.LOST || known.kind() == RedisFault.Kind.READ_ONLY) {
                drop(open);
            }
            return Future.failedFuture(known);
        });
    }

    /** As {@link RedisLinks#subscribe}, where this link leads. */
    Subscription subscribe(List<String> channels, BiConsumer<String, Buffer> heard) {
        return new Subscription(vertx, where, Duration.ofMillis(timeoutMillis), name, channels, heard);
    }

    /** Closes the link for good; idempotent. */
    public Future<Void> close() {
        closed = true;
        connection = null;
        return closeClient();
    }

    /**
     * A client for each connection: closing it closes the socket, whereas a pool would hand out a connection again that is
     * only late, and would wait for ever for one whose handshake hangs.
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

    /** Drops the connection and connects anew, to wherever it is then. What is in flight is lost. */
    void leave() {
        RedisConnection open = connection;
        if (open != null) {
            drop(open);
        }
    }

    /**
     * For a link whose server lacks what it should have. A connection may outlive a failover: the server that it leads to is alive, and is
     * not the one that the address leads to by now. So the address is asked for on a new connection. When the server there has what is
     * missed, and the server of this link still has not, the link is left for it. Else nothing is changed.
     *
     * <p>A call within a second after another, or while that one looks, does nothing.
     *
     * @param hasIt asks a server for what is missed
     * @return succeeds also when it could not look
     */
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
        closeClient();
        if (!closed) {
            LOG.warn("Redis link {} lost, reconnecting", name);
            away = true;
            vertx.setTimer(retryMillis, timer -> reconnect());
        }
    }

    /** Connects in the background, again and again until it succeeds. */
    void reconnect() {
        if (closed || connection != null) {
            return;
        }
        // A connect that was cut short by closing its client fails on another thread.
        connect()
                .onComplete(tried -> context.runOnContext(now -> {
                    if (firstTry.tryComplete() && tried.failed()) {
                        LOG.warn(
                                "Redis link {} cannot connect, trying again: {}",
                                name,
                                tried.cause().getMessage());
                        away = true;
                    }
                    if (tried.succeeded()) {
                        if (away) {
                            LOG.info("Redis link {} is back", name);
                            away = false;
                        }
                        retryMillis = FIRST_RETRY_MILLIS;
                        return;
                    }
                    closeClient();
                    if (!closed) {
                        vertx.setTimer(retryMillis, timer -> reconnect());
                        retryMillis = Math.min(LAST_RETRY_MILLIS, retryMillis * 2);
                    }
                }));
    }
}
