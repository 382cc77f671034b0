package dev.hongbao.domain.draw;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.AccountKind;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.ledger.Ledger;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.domain.odds.Prize;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;

/** Moves a draw's awards from its maker's wallets into its escrows, inside the transaction that makes it. */
final class DrawFunding {
    /** The missing amount of each wallet that holds too little. */
    private static final String MISSING = "select a.asset, u.amount - a.balance as missing"
            + " from unnest($1::bigint[], $2::bigint[]) as u(wallet, amount) join account as a on a.id = u.wallet"
            + " where a.balance < u.amount order by a.asset";

    private static final String FUND = "insert into transfer (subject, debit, credit, amount, kind)"
            + " select $1, u.debit, u.credit, u.amount, 'fund'"
            + " from unnest($2::bigint[], $3::bigint[], $4::bigint[]) as u(debit, credit, amount)";

    private DrawFunding() {}

    /** The total of all awards, by asset, minor units. */
    static Map<Asset, Long> awards(DrawDefinition definition) {
        Map<Asset, Long> sums = new TreeMap<>(java.util.Comparator.comparing(Asset::code));
        for (Prize prize : definition.allPrizes()) {
            Asset asset = prize.award().asset();
            if (asset != null) {
                long all = Math.multiplyExact(
                        Objects.requireNonNull(prize.stock()), prize.award().amount());
                sums.merge(asset, all, Math::addExact);
            }
        }
        return sums;
    }

    static Future<Map<Asset, Long>> accounts(SqlConnection tx, AccountKind kind, String owner, Iterable<Asset> assets) {
        Map<Asset, Long> accounts = new HashMap<>();
        Future<Void> done = Future.succeededFuture();
        for (Asset asset : assets) {
            done = done.compose(before -> Ledger.account(tx, kind, owner, asset))
                    .map(account -> {
                        accounts.put(asset, account);
                        return null;
                    });
        }
        return done.map(accounts);
    }

    /**
     * Moves the awards into the draw's escrows. Refused with FROZEN, or with INSUFFICIENT_FUNDS, which names the missing amount of each
     * asset.
     */
    static Future<Void> fund(
            SqlConnection tx, DrawId id, UserId owner, Map<Asset, Long> awards, Map<Asset, Long> escrows) {
        if (awards.isEmpty()) {
            return Future.succeededFuture();
        }
        return accounts(tx, AccountKind.WALLET, owner.value(), awards.keySet()).compose(wallets -> {
            List<Long> debits = new ArrayList<>();
            List<Long> credits = new ArrayList<>();
            List<Long> amounts = new ArrayList<>();
            awards.forEach((asset, amount) -> {
                debits.add(wallets.get(asset));
                credits.add(escrows.get(asset));
                amounts.add(amount);
            });
            UUID draw = id.value();
            Long[] payers = debits.toArray(Long[]::new);
            Long[] sums = amounts.toArray(Long[]::new);
            return Ledger.lockToPay(tx, owner, debits)
                    .compose(locked -> tx.preparedQuery(MISSING)
                            .execute(Tuple.tuple().addArrayOfLong(payers).addArrayOfLong(sums)))
                    .compose(missing -> missing.rowCount() > 0
                            ? Future.failedFuture(tooPoor(owner, missing))
                            : tx.preparedQuery(FUND)
                                    .execute(Tuple.tuple()
                                            .addUUID(draw)
                                            .addArrayOfLong(payers)
                                            .addArrayOfLong(credits.toArray(Long[]::new))
                                            .addArrayOfLong(sums)))
                    .<Void>mapEmpty()
                    .recover(fault -> Future.failedFuture(Ledger.refusal(fault)));
        });
    }

    /** The refusal with the missing amount of each asset. */
    private static RefusedException tooPoor(UserId owner, RowSet<Row> missing) {
        List<String> sums = new ArrayList<>();
        missing.forEach(row -> sums.add(row.getLong("missing") + " " + row.getString("asset")));
        return new RefusedException(
                Refusal.INSUFFICIENT_FUNDS, Text.of("draw.wallets-lack", owner.value(), String.join(", ", sums)));
    }
}
