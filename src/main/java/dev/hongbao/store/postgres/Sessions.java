package dev.hongbao.store.postgres;

import io.vertx.core.Future;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.SqlClient;
import java.time.Duration;

/** The writer's own connections to Postgres, beside the pools. Thread-safe. */
public interface Sessions {
    /**
     * One connection with pipelined statements, executed in the order they are sent.
     *
     * @param lock the longest wait of a statement for a lock; then it is refused with 55P03
     */
    SqlClient pipeline(String name, Duration lock);

    /**
     * A connection for a client that sends statements regularly.
     *
     * @param answer the longest that an answer may take
     * @param silence Postgres ends the session of a client that is silent for so long, such as a frozen one
     */
    Future<PgConnection> connect(String name, Duration answer, Duration silence);

    /** Closes each connection that received nothing in the last {@code silence}. Pools make new ones when they need them. */
    void dropSilent(Duration silence);
}
