package dev.hongbao.store.postgres;

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
import io.vertx.sqlclient.Row;
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
}
