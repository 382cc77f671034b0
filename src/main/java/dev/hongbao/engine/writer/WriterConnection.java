package dev.hongbao.engine.writer;

import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connection on which shards are looked at and nearly everything is settled. Without it a server is of no use to its shards: Postgres
 * may have given it one for their locks, and then have none left. Confined to the persistence verticle's event loop.
 */
final class WriterConnection {
    /** So long every look has failed until the connection is doubted; a restart of Postgres takes less. */
    private static final long DOUBT_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Much less than Postgres gives a session that says nothing: the locks' says nothing meanwhile. */
    private static final long ANSWER_MILLIS = 2_000;

    private final SqlClient client;
    private @Nullable Long failingSinceNanos;

    /** @param client of one connection, made when it is asked for and anew after it was lost */
    WriterConnection(SqlClient client) {
        this.client = client;
    }

    SqlClient client() {
        return client;
    }

    /** A look on the connection ended. */
    void looked(AsyncResult<?> look) {
        if (look.succeeded()) {
            failingSinceNanos = null;
        } else if (failingSinceNanos == null) {
            failingSinceNanos = System.nanoTime();
        }
    }

    /** Whether no look has succeeded for some seconds, and some have failed. */
    boolean isDoubted() {
        Long since = failingSinceNanos;
        return since != null && System.nanoTime() - since > DOUBT_NANOS;
    }

    /** Succeeds when it answers now; connects first if need be. */
    Future<Void> ask() {
        return client.query("select 1")
                .execute()
                .timeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS)
                .onSuccess(answer -> failingSinceNanos = null)
                .mapEmpty();
    }
}
