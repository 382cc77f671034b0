package dev.hongbao.ledger;

import dev.hongbao.store.postgres.Rows;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.util.List;

/** All users with a wallet. Thread-safe. */
public final class Holders {
    /** The index of accounts begins with their owner. */
    private static final String LIST = """
        select owner, count(*) as wallets from account
        where kind = 'wallet' and owner > $1 group by owner order by owner limit $2
        """;

    private final Pool pool;

    /**
     * A user with wallets.
     *
     * @param wallets the number of assets that the user has, or had
     */
    public record Holder(String user, long wallets) {}

    public Holders(Pool pool) {
        this.pool = pool;
    }

    /**
     * The next users by id.
     *
     * @param after the last one of the page before; empty for the first page
     */
    public Future<List<Holder>> list(String after, int limit) {
        return pool.preparedQuery(LIST)
                .execute(Tuple.of(after, limit))
                .map(rows -> Rows.list(rows, row -> new Holder(row.getString("owner"), row.getLong("wallets"))));
    }
}
