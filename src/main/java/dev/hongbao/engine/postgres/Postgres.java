package dev.hongbao.engine.postgres;

import io.netty.channel.ChannelPipeline;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClientOptions;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.spi.PgDriver;
import io.vertx.sqlclient.ClientBuilder;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import io.vertx.sqlclient.impl.SocketConnectionBase;
import io.vertx.sqlclient.internal.SqlConnectionInternal;
import io.vertx.sqlclient.spi.ConnectionFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes all connections to one Postgres, so that none of them waits for ever on a host that froze or fell silent. Postgres ends a
 * statement that takes too long ({@code statement_timeout}); when not even that is heard, the connection is closed ({@link
 * Deadline}), and what it carried is of unknown effect. A connection that takes no writes is closed before anybody has it.
 * Thread-safe.
 */
public final class Postgres {
    private static final Logger LOG = LoggerFactory.getLogger(Postgres.class);

    /** What a settlement or an owner's task may take, and a request at the most; a caller has been told 503 by then. */
    public static final Duration SHORT = Duration.ofSeconds(8);

    /** For what reads or deletes a lot: recovery's pages, the reconciliation, the hourly purge. */
    public static final Duration LONG = Duration.ofMinutes(10);

    /** Postgres' own refusal comes first, unless nothing comes at all. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    /** For TCP, and once more for the handshake after it. */
    private static final Duration CONNECT = Duration.ofSeconds(5);

    /** Connections that are seldom needed are not kept. */
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
     * A pool of connections. Who waits for one as long as a statement may take is told to try later ({@link SqlState#isOutage}).
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

    /**
     * One connection, on which statements are pipelined in the order they are sent.
     *
     * @param lock the longest that a statement waits for a lock; then it is refused with 55P03
     */
    public SqlClient pipeline(String name, Duration lock) {
        return build(
                PgBuilder.client(),
                new PoolOptions().setMaxSize(1),
                name,
                SHORT,
                Map.of("lock_timeout", lock.toMillis() + "ms"));
    }

    /**
     * A connection for one that speaks regularly.
     *
     * @param answer the longest that an answer may take
     * @param silence Postgres ends the session of a client that says nothing for so long: one that froze
     */
    public Future<PgConnection> connect(String name, Duration answer, Duration silence) {
        PgConnectOptions options = options(name, answer, Map.of("idle_session_timeout", silence.toMillis() + "ms"));
        return single.connect(vertx.getOrCreateContext(), options)
                .compose(made -> admit(made, name, answer).map(taken -> PgConnection.cast(made)));
    }

    /** Closes each connection on which nothing was heard in the last {@code silence}; pools make new ones when they need them. */
    public void dropSilent(Duration silence) {
        open.forEach(connection -> connection.dropIfSilent(silence));
    }

    /**
     * Has Postgres end each statement that is under way, whose caller then hears so: for who stops, and cannot wait for it.
     *
     * @return done when Postgres was asked to; never fails
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
        // Statements are short, and their plans are told to look expensive up to Postgres 17: to compile one takes
        // longer than to run it.
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
     * Guards a connection that was just made. One that takes no writes is closed, as {@code target_session_attrs=read-write} of libpq
     * has it: after a failover a name may lead to a standby for a while, and who stayed there could never settle, and read what is old.
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

    /** One line a minute: each caller may have made a connection. */
    private void tell(String name, Throwable fault) {
        long now = System.nanoTime();
        long told = toldNanos.get();
        if (now - told >= TELL_EVERY_NANOS && toldNanos.compareAndSet(told, now)) {
            LOG.warn("closed a new connection of {} to Postgres: {}", name, fault.getMessage());
        }
    }

    /** On a connection of its own: none of a pool may be free, or be heard. */
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
}
