package dev.hongbao.store.postgres;

import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import java.time.Duration;
import java.util.function.IntConsumer;

/**
 * Asks Postgres whether it answers and accepts writes, on a connection of its own. Requests that wait for a busy pool do not mean
 * that Postgres is down. The connection stays open, so a question never needs a free one of {@code max_connections}. Thread-safe.
 */
public final class Ping {
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
