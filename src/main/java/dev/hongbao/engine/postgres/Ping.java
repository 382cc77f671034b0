package dev.hongbao.engine.postgres;

import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.time.Duration;

/**
 * Asks Postgres whether it answers, on a connection that carries nothing else: a server whose requests wait for connections is busy, and Postgres is not
 * down. The connection stays open, so that no question needs a free one of {@code max_connections}. Safe on any thread.
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
     * Whether Postgres answers now. Who comes while a question is under way gets its answer, so there is never a second one.
     *
     * @return true; or fails, after 4 s at the latest: the statement's two and two more, after which a silent connection is closed
     */
    public Future<Boolean> ask() {
        return asked.ask("1", () -> connection.query("select 1").execute().map(true));
    }

    public Future<Void> close() {
        return connection.close();
    }
}
