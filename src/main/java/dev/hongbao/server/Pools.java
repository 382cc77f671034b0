package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.engine.journal.SettlementBatch;
import dev.hongbao.engine.postgres.Postgres;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;

/**
 * A server's connections to Postgres, by what they are for.
 *
 * @param postgres makes further ones
 * @param requests what users ask for
 * @param owner the owner's work, so that no burst of requests keeps it from settling and recovering
 * @param lengthy what may take minutes: recovery's pages, the purges
 * @param books who adds up days of the ledger or pools of a campaign: two at once, a few wait
 * @param outbox who reads the outbox, so that a host that catches up keeps nobody else waiting
 */
record Pools(Postgres postgres, Pool requests, Pool owner, Pool lengthy, Pool outbox, Pool books) {
    /** Requests that wait for a connection; further ones get 503: more could not be answered in time. */
    static final int REQUESTS_QUEUE = 1_000;

    private static final int OWNER_SIZE = 4;
    private static final int OWNER_QUEUE = 256;
    private static final int OUTBOX_SIZE = 2;
    private static final int BOOKS_SIZE = 2;
    private static final int BOOKS_QUEUE = 16;

    /** Outside of these pools: the ping's, the locks', the webhooks', and the writer's. */
    private static final int SINGLE = 3 + SettlementBatch.MOST_AT_ONCE;

    /** What a server holds, but for the short while of a check or of the console. The guide and the base for Kubernetes reckon with it. */
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
                        ofRequest(config.web().http().timeouts().answer())),
                postgres.pool("owner", OWNER_SIZE, OWNER_QUEUE, Postgres.SHORT),
                postgres.pool("lengthy", OWNER_SIZE, OWNER_QUEUE, Postgres.LONG),
                postgres.pool("outbox", OUTBOX_SIZE, OWNER_QUEUE, Postgres.SHORT),
                postgres.pool("books", BOOKS_SIZE, BOOKS_QUEUE, Postgres.LONG));
    }

    /** Half of the answer's time to wait for a connection, half for the statement: nothing is done for who has been told 503. */
    private static Duration ofRequest(Duration answer) {
        Duration half = answer.dividedBy(2);
        return half.compareTo(Postgres.SHORT) < 0 ? half : Postgres.SHORT;
    }

    /** Nothing that takes minutes is waited for: it is ended, and its caller hears so. */
    Future<Void> close() {
        return requests.close()
                .eventually(owner::close)
                .eventually(postgres::cancelAll)
                .eventually(lengthy::close)
                .eventually(outbox::close)
                .eventually(books::close);
    }
}
