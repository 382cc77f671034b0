package dev.hongbao.simulation;

import dev.hongbao.simulation.SimulatedPostgres.Session;
import dev.hongbao.store.postgres.Sessions;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.PgNotice;
import io.vertx.pgclient.PgNotification;
import io.vertx.sqlclient.ClosedConnectionException;
import io.vertx.sqlclient.Cursor;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PrepareOptions;
import io.vertx.sqlclient.PreparedQuery;
import io.vertx.sqlclient.PreparedStatement;
import io.vertx.sqlclient.PropertyKind;
import io.vertx.sqlclient.Query;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowIterator;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.RowStream;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.SqlResult;
import io.vertx.sqlclient.Transaction;
import io.vertx.sqlclient.Tuple;
import io.vertx.sqlclient.desc.ColumnDescriptor;
import io.vertx.sqlclient.internal.ArrayTuple;
import io.vertx.sqlclient.spi.DatabaseMetadata;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collector;
import org.jspecify.annotations.Nullable;

/** One server's clients of {@link SimulatedPostgres}, as the engine uses Vert.x' clients. */
final class PostgresClients implements Sessions {
    /** An answer that takes longer ends the connection. */
    private static final long ANSWER_NANOS = 10_000 * World.MILLI;

    private final World world;
    private final World.Host host;
    private final SimulatedPostgres postgres;

    PostgresClients(World world, World.Host host, SimulatedPostgres postgres) {
        this.world = world;
        this.host = host;
        this.postgres = postgres;
    }

    @Override
    public SqlClient pipeline(String name, Duration lock) {
        return new Pipeline(lock.toMillis());
    }

    @Override
    public Future<PgConnection> connect(String name, Duration answer, Duration silence) {
        Connection connection = new Connection(null, silence.toMillis(), answer.toNanos());
        return connection.open().map(open -> connection);
    }

    @Override
    public void dropSilent(Duration silence) {}

    Pool pool(int size) {
        return new Connections(size);
    }

    /** Runs statements. */
    private abstract static class Client implements SqlClient {
        abstract Future<RowSet<Row>> execute(String sql, Tuple parameters);

        @Override
        public Query<RowSet<Row>> query(String sql) {
            return preparedQuery(sql);
        }

        @Override
        public PreparedQuery<RowSet<Row>> preparedQuery(String sql) {
            return new Statement(this, sql);
        }

        @Override
        public PreparedQuery<RowSet<Row>> preparedQuery(String sql, PrepareOptions options) {
            return preparedQuery(sql);
        }
    }

    private record Statement(Client client, String sql) implements PreparedQuery<RowSet<Row>> {
        @Override
        public Future<RowSet<Row>> execute(Tuple parameters) {
            return client.execute(sql, parameters);
        }

        @Override
        public Future<RowSet<Row>> execute() {
            return client.execute(sql, Tuple.tuple());
        }

        @Override
        public Future<RowSet<Row>> executeBatch(List<Tuple> batch) {
            throw new UnsupportedOperationException();
        }

        @Override
        public <R> PreparedQuery<SqlResult<R>> collecting(Collector<Row, ?, R> collector) {
            throw new UnsupportedOperationException();
        }

        @Override
        public <U> PreparedQuery<RowSet<U>> mapping(Function<Row, U> mapper) {
            throw new UnsupportedOperationException();
        }
    }

    /** A connection that is made anew when it is needed. */
    private final class Pipeline extends Client {
        private final long lockMillis;
        private @Nullable Future<Connection> open;

        Pipeline(long lockMillis) {
            this.lockMillis = lockMillis;
        }

        @Override
        Future<RowSet<Row>> execute(String sql, Tuple parameters) {
            Future<Connection> known = open;
            if (known == null || known.failed() || known.succeeded() && known.result().closed) {
                known = new Connection(lockMillis, null, ANSWER_NANOS).open();
                open = known;
            }
            return known.compose(connection -> connection.execute(sql, parameters));
        }

        @Override
        public Future<Void> close() {
            Future<Connection> known = open;
            return known == null
                    ? Future.succeededFuture()
                    : known.compose(Connection::close).otherwiseEmpty();
        }
    }

    /** A pool. */
    private final class Connections extends Client implements Pool {
        private final int size;
        private final Deque<Connection> idle = new ArrayDeque<>();
        private final Deque<Promise<Connection>> waiting = new ArrayDeque<>();
        private int used;

        Connections(int size) {
            this.size = size;
        }

        private Future<Connection> take() {
            for (Connection next = idle.poll(); next != null; next = idle.poll()) {
                if (!next.closed) {
                    used++;
                    return Future.succeededFuture(next);
                }
            }
            if (used < size) {
                used++;
                return new Connection(null, null, ANSWER_NANOS, this::giveBack)
                        .open()
                        .onFailure(fault -> freed());
            }
            Promise<Connection> later = Promise.promise();
            waiting.add(later);
            return later.future();
        }

        private void giveBack(Connection connection) {
            if (!connection.closed) {
                idle.add(connection);
            }
            freed();
        }

        private void freed() {
            used--;
            Promise<Connection> next = waiting.poll();
            if (next != null) {
                take().onComplete(next);
            }
        }

        @Override
        Future<RowSet<Row>> execute(String sql, Tuple parameters) {
            return take().compose(
                            connection -> connection.execute(sql, parameters).onComplete(done -> giveBack(connection)));
        }

        @Override
        public Future<SqlConnection> getConnection() {
            return take().map(connection -> connection);
        }

        @Override
        public int size() {
            return size;
        }

        @Override
        public Future<Void> close() {
            return Future.succeededFuture();
        }
    }

    private final class Connection extends Client implements PgConnection, Transaction {
        private final @Nullable Long lockMillis;
        private final @Nullable Long idleMillis;
        private final long answerNanos;
        private final java.util.function.@Nullable Consumer<Connection> giveBack;
        private final Deque<Asked> pending = new ArrayDeque<>();
        private @Nullable Session session;
        private @Nullable Handler<Void> closeHandler;
        private @Nullable Handler<PgNotification> notificationHandler;
        private boolean closed;
        private boolean watched;
        private boolean within;

        private record Asked(long atNanos, Promise<RowSet<Row>> answer) {}

        Connection(@Nullable Long lockMillis, @Nullable Long idleMillis, long answerNanos) {
            this(lockMillis, idleMillis, answerNanos, null);
        }

        Connection(
                @Nullable Long lockMillis,
                @Nullable Long idleMillis,
                long answerNanos,
                java.util.function.@Nullable Consumer<Connection> giveBack) {
            this.lockMillis = lockMillis;
            this.idleMillis = idleMillis;
            this.answerNanos = answerNanos;
            this.giveBack = giveBack;
        }

        Future<Connection> open() {
            Promise<Connection> opened = Promise.promise();
            postgres.connect(
                    host,
                    lockMillis,
                    idleMillis,
                    this::notified,
                    this::broke,
                    made -> {
                        session = made;
                        opened.complete(this);
                    },
                    opened::fail);
            return opened.future();
        }

        private void notified(String channel, String payload) {
            Handler<PgNotification> handler = notificationHandler;
            if (handler != null && !closed) {
                int space = payload.indexOf(' ');
                handler.handle(new PgNotification()
                        .setChannel(channel)
                        .setProcessId(Integer.parseInt(payload.substring(0, space)))
                        .setPayload(payload.substring(space + 1)));
            }
        }

        @Override
        Future<RowSet<Row>> execute(String sql, Tuple parameters) {
            Session open = session;
            if (closed || open == null) {
                return Future.failedFuture(ClosedConnectionException.INSTANCE);
            }
            Asked asked = new Asked(world.now(), Promise.promise());
            pending.add(asked);
            watch();
            open.send(
                    sql,
                    parameters,
                    within,
                    rows -> {
                        if (pending.remove(asked)) {
                            asked.answer.complete(new Result(rows));
                        }
                    },
                    fault -> {
                        if (pending.remove(asked)) {
                            asked.answer.fail(fault);
                        }
                    });
            return asked.answer.future();
        }

        private void watch() {
            if (watched) {
                return;
            }
            watched = true;
            world.after(answerNanos, host, () -> {
                watched = false;
                Asked oldest = pending.peek();
                if (oldest != null && world.now() - oldest.atNanos >= answerNanos) {
                    shut();
                    broke();
                } else if (oldest != null) {
                    watch();
                }
            });
        }

        private void shut() {
            Session open = session;
            if (open != null) {
                open.leave();
            }
        }

        /** The client notices that the connection is gone. */
        private void broke() {
            if (closed) {
                return;
            }
            closed = true;
            List<Asked> lost = List.copyOf(pending);
            pending.clear();
            Handler<Void> handler = closeHandler;
            if (handler != null) {
                handler.handle(null);
            }
            lost.forEach(each -> each.answer.fail(ClosedConnectionException.INSTANCE));
        }

        @Override
        public Future<Void> close() {
            if (giveBack != null) {
                giveBack.accept(this);
            } else {
                shut();
                broke();
            }
            return Future.succeededFuture();
        }

        @Override
        public Future<PreparedStatement> prepare(String sql) {
            return Future.succeededFuture(new Prepared(this, sql));
        }

        @Override
        public Future<PreparedStatement> prepare(String sql, PrepareOptions options) {
            return prepare(sql);
        }

        @Override
        public PgConnection exceptionHandler(Handler<Throwable> handler) {
            return this;
        }

        @Override
        public PgConnection closeHandler(Handler<Void> handler) {
            closeHandler = handler;
            return this;
        }

        @Override
        public PgConnection notificationHandler(Handler<PgNotification> handler) {
            notificationHandler = handler;
            return this;
        }

        @Override
        public PgConnection noticeHandler(Handler<PgNotice> handler) {
            return this;
        }

        @Override
        public Future<Void> cancelRequest() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int processId() {
            Session open = session;
            return open == null ? 0 : open.pid;
        }

        @Override
        public int secretKey() {
            return 0;
        }

        @Override
        public Future<Transaction> begin() {
            within = !closed;
            return closed ? Future.failedFuture(ClosedConnectionException.INSTANCE) : Future.succeededFuture(this);
        }

        @Override
        public Transaction transaction() {
            return this;
        }

        @Override
        public Future<Void> commit() {
            return end("commit");
        }

        @Override
        public Future<Void> rollback() {
            return end("rollback");
        }

        /** A transaction that only read needs no word. */
        private Future<Void> end(String word) {
            within = false;
            Session open = session;
            if (closed || open == null) {
                return Future.failedFuture(ClosedConnectionException.INSTANCE);
            }
            return open.isWithinTransaction() ? execute(word, Tuple.tuple()).mapEmpty() : Future.succeededFuture();
        }

        @Override
        public Future<Void> completion() {
            return Future.succeededFuture();
        }

        @Override
        public boolean isSSL() {
            return false;
        }

        @Override
        public DatabaseMetadata databaseMetadata() {
            throw new UnsupportedOperationException();
        }
    }

    private record Prepared(Connection connection, String sql) implements PreparedStatement {
        @Override
        public PreparedQuery<RowSet<Row>> query() {
            return new Statement(connection, sql);
        }

        /** Gives everything as its first page. */
        @Override
        public Cursor cursor(Tuple parameters) {
            return new Cursor() {
                @Override
                public Future<RowSet<Row>> read(int count) {
                    return connection.execute(sql, parameters);
                }

                @Override
                public boolean hasMore() {
                    return false;
                }

                @Override
                public Future<Void> close() {
                    return Future.succeededFuture();
                }

                @Override
                public boolean isClosed() {
                    return false;
                }
            };
        }

        @Override
        public RowStream<Row> createStream(int fetch, Tuple parameters) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Future<Void> close() {
            return Future.succeededFuture();
        }
    }

    private static final class ResultRow extends ArrayTuple implements Row {
        private final List<String> names;

        ResultRow(Map<String, Object> values) {
            super(values.size());
            names = new ArrayList<>(values.keySet());
            values.values().forEach(this::addValue);
        }

        @Override
        public String getColumnName(int place) {
            return names.get(place);
        }

        @Override
        public int getColumnIndex(String name) {
            return names.indexOf(name);
        }
    }

    private static final class Result implements RowSet<Row> {
        private final List<Row> rows;

        Result(List<Map<String, Object>> rows) {
            this.rows = rows.stream().<Row>map(ResultRow::new).toList();
        }

        @Override
        public RowIterator<Row> iterator() {
            Iterator<Row> all = rows.iterator();
            return new RowIterator<>() {
                @Override
                public boolean hasNext() {
                    return all.hasNext();
                }

                @Override
                public Row next() {
                    return all.next();
                }
            };
        }

        @Override
        public @Nullable RowSet<Row> next() {
            return null;
        }

        @Override
        public int rowCount() {
            return rows.size();
        }

        @Override
        public int size() {
            return rows.size();
        }

        @Override
        public List<String> columnsNames() {
            throw new UnsupportedOperationException();
        }

        @Override
        public List<ColumnDescriptor> columnDescriptors() {
            throw new UnsupportedOperationException();
        }

        @Override
        public <V> V property(PropertyKind<V> kind) {
            throw new UnsupportedOperationException();
        }

        @Override
        public RowSet<Row> value() {
            return this;
        }
    }
}
