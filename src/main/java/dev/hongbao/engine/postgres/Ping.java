package dev.hongbao.engine.postgres;

import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import java.time.Duration;
import java.util.function.IntConsumer;

/**
 * Asks Postgres whether it answers and takes writes, on a connection that carries nothing else: a server whose requests wait for connections is busy, and Postgres is not
 * down. The connection stays open, so that no question needs a free one of {@code max_connections}. Thread-safe.
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
     * Whether Postgres takes writes now. Who comes while a question is under way gets its answer, so there is never a second one.
     *
     * @return false when it answers and takes none; or fails, after 4 s at the latest: the statement's two and two more, after which a silent connection is closed
     */
    public Future<Boolean> ask() {
        return asked.ask("1", () -> takesWrites(connection, backend -> {}));
    }

    /**
     * False of a standby, and of a session that is read-only for another reason.
     *
     * @param backend gets the process that serves the session; a pooler between names another one when it connects
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
