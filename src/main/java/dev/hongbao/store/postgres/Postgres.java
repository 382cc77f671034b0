package dev.hongbao.store.postgres;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.internal.VertxWrapper;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.ConnectOptions;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.spi.PgDriver;
import io.vertx.sqlclient.ClientBuilder;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import io.vertx.sqlclient.impl.SocketConnectionBase;
import io.vertx.sqlclient.internal.SqlConnectionInternal;
import io.vertx.sqlclient.internal.command.CommandBase;
import io.vertx.sqlclient.internal.command.CommandResponse;
import io.vertx.sqlclient.spi.ConnectionFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes all connections to one Postgres. None of them waits for ever on a host that froze or fell silent. Postgres ends a
 * statement that takes too long ({@code statement_timeout}). If Postgres is silent, too, {@link Deadline} closes the connection,
 * and the effect of its statements is unknown. A new connection that accepts no writes is closed before its first use.
 * Thread-safe.
 */
public final class Postgres implements Sessions {
    private static final Logger LOG = LoggerFactory.getLogger(Postgres.class);

    /** The limit of a settlement, an owner's task or a request; the caller has got 503 by then. */
    public static final Duration SHORT = Duration.ofSeconds(8);

    /** For large reads and deletions: recovery's pages, the reconciliation, the hourly purge. */
    public static final Duration LONG = Duration.ofMinutes(10);

    /** Postgres' own refusal comes first, unless Postgres is silent. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    /** For TCP, and once more for the handshake after it. */
    private static final Duration CONNECT = Duration.ofSeconds(5);

    /** Rarely used connections are closed after this time. */
    private static final Duration IDLE = Duration.ofMinutes(1);

    private static final long TELL_EVERY_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Vertx vertx;
    private final PostgresAddress address;
    private final ConnectionFactory<PgConnectOptions> single;
    private final Set<Deadline> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong toldNanos = new AtomicLong(System.nanoTime() - TELL_EVERY_NANOS);

    public Postgres(Vertx vertx, PostgresAddress address) {
        this.vertx = HandshakeLimit.of(vertx, CONNECT);
        this.address = address;
        this.single = PgDriver.INSTANCE.createConnectionFactory(this.vertx, transport());
    }

    /**
     * A pool of connections. A caller waits for a connection as long as a statement may take; then its call fails with
     * {@link SqlState#isOutage}.
     *
     * @param name for the log and the metrics
     * @param queue how many may wait for a connection; further ones fail
     * @param statement the longest that a statement may take
     */
    public Pool pool(String name, int size, int queue, Duration statement) {
        PoolOptions options = new PoolOptions()
                .setMaxSize(size)
                .setMaxWaitQueueSize(queue)
                .setConnectionTimeout((int) statement.toMillis())
                .setConnectionTimeoutUnit(TimeUnit.MILLISECONDS);
        if (statement.compareTo(SHORT) > 0) {
            options.setIdleTimeout((int) IDLE.toSeconds()).setIdleTimeoutUnit(TimeUnit.SECONDS);
        }
        return build(PgBuilder.pool(), options, name, statement, Map.of());
    }

    @Override
    public SqlClient pipeline(String name, Duration lock) {
        return build(
                PgBuilder.client(),
                new PoolOptions().setMaxSize(1),
                name,
                SHORT,
                Map.of("lock_timeout", lock.toMillis() + "ms"));
    }

    @Override
    public Future<PgConnection> connect(String name, Duration answer, Duration silence) {
        PgConnectOptions options = options(name, answer, Map.of("idle_session_timeout", silence.toMillis() + "ms"));
        return single.connect(vertx.getOrCreateContext(), options)
                .compose(made -> admit(made, name, answer).map(taken -> PgConnection.cast(made)));
    }

    @Override
    public void dropSilent(Duration silence) {
        open.forEach(connection -> connection.dropIfSilent(silence));
    }

    /**
     * Asks Postgres to cancel every current statement, whose callers then learn it: for a stop that cannot wait.
     *
     * @return done once Postgres was asked; never fails
     */
    public Future<Void> cancelAll() {
        return Future.join(open.stream().map(Deadline::cancel).toList())
                .<Void>mapEmpty()
                .otherwiseEmpty();
    }

    private <C> C build(
            ClientBuilder<C> builder, PoolOptions pool, String name, Duration statement, Map<String, String> settings) {
        return builder.with(pool.setName("hongbao-" + name))
                .with(transport())
                .connectingTo(options(name, statement, settings))
                .withConnectHandler(made -> admit(made, name, statement.plus(GRACE))
                        .onSuccess(taken -> made.close())) // gives it to the pool
                .using(vertx)
                .build();
    }

    private PgConnectOptions options(String name, Duration statement, Map<String, String> settings) {
        // Statements are short, but up to Postgres 17 their plans look expensive, and compiling one takes longer than
        // running it.
        PgConnectOptions options = address.connectOptions()
                .addProperty("jit", "off")
                .addProperty("statement_timeout", statement.toMillis() + "ms");
        options.setMetricsName(name);
        settings.forEach(options::addProperty);
        return options;
    }

    /** The user timeout needs the native transport. */
    private static NetClientOptions transport() {
        return new NetClientOptions()
                .setConnectTimeout((int) CONNECT.toMillis())
                .setTcpKeepAlive(true)
                .setTcpUserTimeout((int) SHORT.plus(GRACE).toMillis());
    }

    /**
     * Guards a new connection. One that accepts no writes is closed, like {@code target_session_attrs=read-write} in libpq. After
     * a failover a name may lead to a standby for a while. A client that stayed there could never settle, and would read old
     * data.
     */
    private Future<Void> admit(SqlConnection made, String name, Duration answer) {
        AtomicInteger backend = new AtomicInteger();
        Deadline deadline = guard(made, name, answer, () -> isAtWork(backend.get()));
        return Ping.takesWrites(made, backend::set)
                .compose(takesWrites -> takesWrites
                        ? Future.<Void>succeededFuture()
                        : Future.failedFuture(new IOException("it takes no writes, as a standby")))
                .onFailure(fault -> {
                    deadline.close();
                    tell(name, fault);
                });
    }

    /** At most one line a minute: every caller may have made a connection. */
    private void tell(String name, Throwable fault) {
        long now = System.nanoTime();
        long told = toldNanos.get();
        if (now - told >= TELL_EVERY_NANOS && toldNanos.compareAndSet(told, now)) {
            LOG.warn("closed a new connection of {} to Postgres: {}", name, fault.getMessage());
        }
    }

    /** On a connection of its own: the pools may have none free, or only silent ones. */
    private Future<Boolean> isAtWork(int backend) {
        return connect("look", SHORT, SHORT)
                .compose(look -> look.preparedQuery(
                                "select exists (select from pg_stat_activity where pid = $1 and (state like 'idle%') is not true)")
                        .execute(Tuple.of(backend))
                        .map(rows -> rows.iterator().next().getBoolean(0))
                        .eventually(look::close));
    }

    private Deadline guard(SqlConnection made, String name, Duration answer, Supplier<Future<Boolean>> isAtWork) {
        SocketConnectionBase connection =
                (SocketConnectionBase) ((SqlConnectionInternal) made).unwrap().unwrap();
        ChannelPipeline pipeline = connection.socket().channelHandlerContext().pipeline();
        HandshakeLimit.lift(pipeline);
        Deadline deadline = new Deadline(name, answer, PgConnection.cast(made), open, isAtWork);
        pipeline.addBefore("handler", "deadline", deadline);
        return deadline;
    }

    /**
     * Asks Postgres whether it answers and accepts writes, on a connection of its own. Requests that wait for a busy pool do not mean
     * that Postgres is down. The connection stays open, so a question never needs a free one of {@code max_connections}. Thread-safe.
     */
    public static final class Ping {
        /** As long as {@code /health/ready} waits for a check. */
        private static final Duration ANSWER = Duration.ofSeconds(2);

        private final Pool connection;
        private final SharedQueries<String, Boolean> asked = new SharedQueries<>();

        public Ping(Postgres postgres) {
            this.connection = postgres.pool("ping", 1, 1, ANSWER);
        }

        /**
         * Whether Postgres accepts writes now. Callers at the same time share one question.
         *
         * @return false if it answers and accepts no writes. Fails after 4 s at the latest: two for the statement, and two more until
         *     a silent connection is closed
         */
        public Future<Boolean> ask() {
            return asked.ask("1", () -> takesWrites(connection, backend -> {}));
        }

        /**
         * False for a standby, and for a session that is read-only for another reason.
         *
         * @param backend gets the pid of the session's process; behind a pooler it differs from the pid at the connect
         */
        static Future<Boolean> takesWrites(SqlClient client, IntConsumer backend) {
            return client.query("select current_setting('transaction_read_only') = 'off', pg_backend_pid()")
                    .execute()
                    .map(rows -> {
                        Row row = rows.iterator().next();
                        backend.accept(row.getInteger(1));
                        return row.getBoolean(0);
                    });
        }

        public Future<Void> close() {
            return connection.close();
        }
    }

    /**
     * Closes one connection when an answer is overdue. Its callers then learn that the connection broke, and the pool makes a new
     * one. The handler stands in the connection's pipeline between the client, which sends commands, and the codec. So it works on
     * every transport, and behind a proxy that acknowledges packets and never answers.
     *
     * <p>A statement that may take minutes is checked earlier: if Postgres no longer executes it, its answer was lost.
     *
     * <p>The effect of a statement on a closed connection is unknown. Confined to the connection's event loop, except for
     * {@link #dropIfSilent} and {@link #cancel}.
     */
    private static final class Deadline extends ChannelDuplexHandler {
        /** From a statement, or the answer to the one before it, until the check whether Postgres still executes it. */
        static final Duration ASKED_AFTER = Duration.ofSeconds(10);

        private final String name;
        private final long limitNanos;
        private final PgConnection connection;
        private final Set<Deadline> open;
        private final Supplier<Future<Boolean>> isAtWork;
        private volatile ChannelHandlerContext context;
        private int owed;
        private long owedSince;
        private long heardNanos;
        private boolean watching;

        /**
         * @param name of the pool, for the log
         * @param limit from a statement, or the answer to the one before it, to its own answer
         * @param connection the guarded connection
         * @param open contains this while the connection is open
         * @param isAtWork whether Postgres executes a statement of this connection now. It is asked only if the limit is longer than
         *     {@link #ASKED_AFTER}; its failure proves nothing
         */
        @SuppressWarnings("NullAway.Init") // the context is there once the handler is in the pipeline
        Deadline(
                String name,
                Duration limit,
                PgConnection connection,
                Set<Deadline> open,
                Supplier<Future<Boolean>> isAtWork) {
            this.name = name;
            this.limitNanos = limit.toNanos();
            this.connection = connection;
            this.open = open;
            this.isAtWork = isAtWork;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext added) {
            context = added;
            heardNanos = System.nanoTime();
            open.add(this);
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext removed) {
            open.remove(this);
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            if (message instanceof CommandBase) {
                if (owed == 0) {
                    owedSince = System.nanoTime();
                }
                owed++;
                watch(Math.min(limitNanos, ASKED_AFTER.toNanos()));
            }
            ctx.write(message, promise);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            heardNanos = System.nanoTime();
            if (message instanceof CommandResponse) {
                owed--;
                owedSince = heardNanos;
            }
            ctx.fireChannelRead(message);
        }

        /** One timer for a busy connection, not one for each statement. */
        private void watch(long nanos) {
            if (!watching) {
                watching = true;
                context.executor().schedule(this::look, nanos, TimeUnit.NANOSECONDS);
            }
        }

        private void look() {
            watching = false;
            if (owed == 0) {
                return;
            }
            long since = owedSince;
            long waited = System.nanoTime() - since;
            long next = Math.min(limitNanos, ASKED_AFTER.toNanos());
            if (waited >= limitNanos) {
                giveUp("no answer from Postgres for " + limitNanos / 1_000_000_000 + " s");
            } else if (waited < next) {
                watch(next - waited);
            } else {
                watch(Math.min(limitNanos - waited, next));
                isAtWork.get()
                        .onSuccess(atWork -> context.executor().execute(() -> {
                            if (!atWork && owed > 0 && owedSince == since) {
                                giveUp("an answer of Postgres was lost");
                            }
                        }));
            }
        }

        private void giveUp(String why) {
            if (context.channel().isActive()) {
                LOG.warn("{}: closed a connection of {}", why, name);
                close();
            }
        }

        /** Closes the connection unless it received something in the last {@code silence}. Safe on any thread. */
        void dropIfSilent(Duration silence) {
            context.executor().execute(() -> {
                if (System.nanoTime() - heardNanos >= silence.toNanos()) {
                    close();
                }
            });
        }

        /**
         * Asks Postgres to cancel this connection's current statement, if any. Safe on any thread.
         *
         * @return done once Postgres was asked
         */
        Future<Void> cancel() {
            Promise<Void> asked = Promise.promise();
            context.executor().execute(() -> {
                if (owed > 0) {
                    connection.cancelRequest().onComplete(asked);
                } else {
                    asked.complete();
                }
            });
            return asked.future();
        }

        /** Closes the socket itself: a goodbye of Postgres or TLS would wait for a dead line. Idempotent. */
        void close() {
            if (!context.isRemoved()) {
                context.pipeline().firstContext().close();
            }
        }
    }

    /**
     * Closes a new connection that is not {@link #lift lifted} in time: a server may accept connections and stay silent. It stands in
     * the pipeline from the first byte on, before TLS and the driver's codec, and closes the socket itself. The driver's own close
     * says goodbye, closes its half, and waits for the peer. A silent peer would then keep the slot in the pool for ever.
     */
    private static final class HandshakeLimit extends ChannelInboundHandlerAdapter {
        private static final String NAME = "handshake-limit";

        private final Duration limit;
        private ScheduledFuture<?> end;

        @SuppressWarnings("NullAway.Init") // the timer runs once the handler is in the pipeline
        private HandshakeLimit(Duration limit) {
            this.limit = limit;
        }

        /**
         * A Vert.x whose TCP clients have the limit. The Postgres driver accepts no client from outside.
         *
         * @param limit from the established TCP connection to {@link #lift}
         */
        static Vertx of(Vertx vertx, Duration limit) {
            return new VertxWrapper((VertxInternal) vertx) {
                @Override
                public NetClient createNetClient(NetClientOptions options) {
                    return new LimitedClient(delegate.createNetClient(options), limit);
                }
            };
        }

        /** Ends the limit after the handshake. Idempotent; on the connection's event loop. */
        static void lift(ChannelPipeline pipeline) {
            if (pipeline.get(NAME) != null) {
                pipeline.remove(NAME);
            }
        }

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            end = context.executor().schedule(() -> close(context), limit.toMillis(), TimeUnit.MILLISECONDS);
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext context) {
            end.cancel(false);
        }

        private void close(ChannelHandlerContext context) {
            LOG.debug("no end of a handshake with Postgres within {} ms", limit.toMillis());
            context.pipeline().firstContext().close();
        }

        private record LimitedClient(NetClient client, Duration limit) implements NetClient {
            private Future<NetSocket> limited(Future<NetSocket> connect) {
                return connect.map(socket -> {
                    ((NetSocketInternal) socket)
                            .channelHandlerContext()
                            .pipeline()
                            .addFirst(NAME, new HandshakeLimit(limit));
                    return socket;
                });
            }

            @Override
            public Future<NetSocket> connect(int port, String host) {
                return limited(client.connect(port, host));
            }

            @Override
            public Future<NetSocket> connect(int port, String host, String serverName) {
                return limited(client.connect(port, host, serverName));
            }

            @Override
            public Future<NetSocket> connect(SocketAddress address) {
                return limited(client.connect(address));
            }

            @Override
            public Future<NetSocket> connect(SocketAddress address, String serverName) {
                return limited(client.connect(address, serverName));
            }

            @Override
            public Future<NetSocket> connect(ConnectOptions options) {
                return limited(client.connect(options));
            }

            @Override
            public Future<Void> shutdown(long timeout, TimeUnit unit) {
                return client.shutdown(timeout, unit);
            }

            @Override
            public Future<Boolean> updateSSLOptions(ClientSSLOptions options, boolean force) {
                return client.updateSSLOptions(options, force);
            }

            @Override
            public boolean isMetricsEnabled() {
                return client.isMetricsEnabled();
            }
        }
    }
}
