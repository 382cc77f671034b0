package dev.hongbao.engine;

import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connection that reads the shards' rows and settles nearly everything. A server without it is useless to its shards.
 * Postgres may have had a connection for their locks, and none for this. Confined to the persistence verticle's event loop.
 */
final class WriterConnection {
    /** After so long with failed looks only, the connection is doubted; a restart of Postgres takes less. */
    private static final long DOUBT_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Much less than Postgres' limit for silent sessions: the locks' session is silent meanwhile. */
    private static final long ANSWER_MILLIS = 2_000;

    private final Loop loop;
    private final SqlClient client;
    private @Nullable Long failingSinceNanos;

    /** @param client with one connection, made on demand and anew after a loss */
    WriterConnection(Loop loop, SqlClient client) {
        this.loop = loop;
        this.client = client;
    }

    SqlClient client() {
        return client;
    }

    /** Notes the end of a look on the connection. */
    void looked(AsyncResult<?> look) {
        if (look.succeeded()) {
            failingSinceNanos = null;
        } else if (failingSinceNanos == null) {
            failingSinceNanos = loop.nanos();
        }
    }

    /** Whether looks have failed for some seconds, and none has succeeded. */
    boolean isDoubted() {
        Long since = failingSinceNanos;
        return since != null && loop.nanos() - since > DOUBT_NANOS;
    }

    /** Succeeds if the connection answers now; connects first if necessary. */
    Future<Void> ask() {
        return loop.timeout(client.query("select 1").execute(), ANSWER_MILLIS)
                .onSuccess(answer -> failingSinceNanos = null)
                .mapEmpty();
    }
}
