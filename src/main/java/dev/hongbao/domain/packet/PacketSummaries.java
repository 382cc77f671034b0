package dev.hongbao.domain.packet;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.Asset;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import java.util.stream.StreamSupport;

/**
 * Totals of users' packets and claims. The time grows with a user's claims: about 0.5 s for a hundred thousand. So one read at a time runs
 * per user. Thread-safe.
 */
final class PacketSummaries {
    /** Reads the index of a wallet's records, forced by the offset, then each packet by its id. */
    private static final String RECEIVED = """
            select c.asset, count(*) as count, sum(c.amount)::bigint as amount, count(l.id) as luckiest
            from (select w.asset, t.subject, t.slot, t.amount
                  from account as w
                  cross join lateral (select subject, slot, amount from transfer
                                      where credit = w.id and kind = 'claim' and subject < $2 and at >= $3 and at < $4
                                      offset 0) as t
                  where w.owner = $1 and w.kind = 'wallet') as c
            left join lateral (select p.id from packet as p
                               where p.id = c.subject and p.luckiest = c.slot and p.closed_at is not null and p.refund = 0
                                 and p.count > 1 and p.kind <> 'equal'
                               limit 1) as l on true
            group by c.asset order by c.asset
            """;

    /** Reads the index of a sender's packets. */
    private static final String SENT = """
            select asset, count(*) as count, sum(amount)::bigint as amount, sum(refund)::bigint as refunded
            from packet
            where sender = $1 and id > $2 and id < $3 and created_at >= $4 and created_at < $5
            group by asset order by asset
            """;

    private final Pool pool;
    private final OnePerUser oneAtATime = new OnePerUser(Text.of("packet.summary-busy"));

    PacketSummaries(Pool pool) {
        this.pool = pool;
    }

    /** Fails with {@link UnavailableException#overloaded} during another such read of the user. */
    Future<PacketSummary> of(UserId user, Period period) {
        return oneAtATime.read(user, () -> read(user, period));
    }

    private Future<PacketSummary> read(UserId user, Period period) {
        var received = pool.preparedQuery(RECEIVED)
                .execute(Tuple.of(user.value(), period.lastId(), period.begins(), period.ends()));
        var sent = pool.preparedQuery(SENT)
                .execute(Tuple.of(user.value(), period.firstId(), period.lastId(), period.begins(), period.ends()));
        return Future.join(received, sent)
                .map(both -> new PacketSummary(
                        sums(received.result(), "luckiest", PacketSummary.Received::new),
                        sums(sent.result(), "refunded", PacketSummary.Sent::new)));
    }

    /** One asset's sums. */
    private interface Sums<T> {
        T of(Asset asset, long count, long amount, long last);
    }

    private static <T> List<T> sums(RowSet<Row> rows, String last, Sums<T> sums) {
        return StreamSupport.stream(rows.spliterator(), false)
                .map(row -> sums.of(
                        new Asset(row.getString("asset")),
                        row.getLong("count"),
                        row.getLong("amount"),
                        row.getLong(last)))
                .toList();
    }
}
