package dev.hongbao.server;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.engine.Shards;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.postgres.Postgres;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;

/**
 * A server's connections to Postgres, by purpose.
 *
 * @param postgres opens further connections
 * @param requests for users' requests
 * @param owner for the owner's work, so that no burst of requests delays a settlement or a recovery
 * @param lengthy for statements of minutes: recovery's pages, the sweeps
 * @param outbox for reads of the outbox, so that a host that catches up delays no other call
 * @param books for sums over days of the ledger or pools of a campaign: two at once, a few wait
 */
record Pools(Postgres postgres, Pool requests, Pool owner, Pool lengthy, Pool outbox, Pool books) {
    /** Requests that may wait for a connection. Further ones get 503, since their answers would be late. */
    static final int REQUESTS_QUEUE = 1_000;

    private static final int OWNER_SIZE = 4;
    private static final int OWNER_QUEUE = 256;
    private static final int OUTBOX_SIZE = 2;
    private static final int BOOKS_SIZE = 2;
    private static final int BOOKS_QUEUE = 16;

    /** Outside of these pools: for the ping, the locks, the webhooks and the writer. */
    private static final int SINGLE = 3 + Shards.SETTLEMENTS_AT_ONCE;

    /** A server's connections, without the brief ones of checks and the console. The guide and the base for Kubernetes use the number. */
    static int connections(HongbaoConfig config) {
        return config.engine().postgres().poolSize() + 2 * OWNER_SIZE + OUTBOX_SIZE + BOOKS_SIZE + SINGLE;
    }

    static Pools open(Vertx vertx, StoreAddresses stores, HongbaoConfig config) {
        Postgres postgres = new Postgres(vertx, stores.app());
        return new Pools(
                postgres,
                postgres.pool(
                        "requests",
                        config.engine().postgres().poolSize(),
                        REQUESTS_QUEUE,
                        ofRequest(config.web().http().answerTimeout())),
                postgres.pool("owner", OWNER_SIZE, OWNER_QUEUE, Postgres.SHORT),
                postgres.pool("lengthy", OWNER_SIZE, OWNER_QUEUE, Postgres.LONG),
                postgres.pool("outbox", OUTBOX_SIZE, OWNER_QUEUE, Postgres.SHORT),
                postgres.pool("books", BOOKS_SIZE, BOOKS_QUEUE, Postgres.LONG));
    }

    /** Half of the answer's time is for the wait, half for the statement: no statement runs after its caller got 503. */
    private static Duration ofRequest(Duration answer) {
        Duration half = answer.dividedBy(2);
        return half.compareTo(Postgres.SHORT) < 0 ? half : Postgres.SHORT;
    }

    /** Cancels statements of minutes; their callers get the failure. */
    Future<Void> close() {
        return requests.close()
                .eventually(owner::close)
                .eventually(postgres::cancelAll)
                .eventually(lengthy::close)
                .eventually(outbox::close)
                .eventually(books::close);
    }
}
