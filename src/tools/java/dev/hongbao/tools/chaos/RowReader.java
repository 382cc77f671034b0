package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.bed.PostgresSide;
import dev.hongbao.tools.chaos.check.Rows;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reads the checker's rows from the database. Blocking. */
final class RowReader {
    /** The simulated users. The host's own wallet pays for the draw. */
    private static final String USERS = "(w.owner like 'user-%' or w.owner like 'probe-%')";

    private static final String WALLETS = " where w.kind = 'wallet' and w.asset = 'CNY' and " + USERS;

    private RowReader() {}

    static Rows read(PostgresSide postgres) throws SQLException {
        return new Rows(
                list(
                        postgres,
                        "select id, sender, refund, closed_at is not null from packet"
                                + " where sender like 'user-%' or sender like 'probe-%'",
                        row -> new Rows.Packet(
                                row.get(0),
                                row.get(1),
                                Long.parseLong(row.get(2)),
                                row.get(3).equals("t"))),
                list(
                        postgres,
                        "select packet, user_id, slot, amount from claim",
                        row -> new Rows.Claim(
                                row.get(0), row.get(1), Integer.parseInt(row.get(2)), Long.parseLong(row.get(3)))),
                map(
                        postgres,
                        "select p.packet, c.id, c.definition -> 'claiming' ->> 'total', c.kind = 'rain'"
                                + " from pool as p join campaign as c on c.id = p.campaign",
                        row -> new Rows.Pool(
                                row.get(1),
                                Integer.parseInt(row.get(2)),
                                row.get(3).equals("t"))),
                list(
                        postgres,
                        "select c.operation, c.key, c.id, t.amount from command as c join transfer as t"
                                + " on t.subject = c.id and t.kind in ('send', 'deposit', 'withdrawal')"
                                + " where c.operation in ('send', 'deposit', 'withdrawal') and c.key not like 'setup-%'"
                                // the rain itself sends its drops
                                + " and not exists (select from pool as p join campaign as r on r.id = p.campaign"
                                + " where p.packet = c.id and r.kind = 'rain')",
                        row -> new Rows.Command(row.get(0), row.get(1), row.get(2), Long.parseLong(row.get(3)))),
                map(
                        postgres,
                        "select w.owner, w.balance from account as w" + WALLETS,
                        row -> Long.parseLong(row.get(1))),
                map(
                        postgres,
                        "select w.owner, sum(case when t.credit = w.id then t.amount else -t.amount end)"
                                + " from account as w join transfer as t on w.id in (t.credit, t.debit)" + WALLETS
                                + " and t.kind in ('cost', 'return', 'award') group by w.owner",
                        row -> Long.parseLong(row.get(1))));
    }

    private static <T> List<T> list(PostgresSide postgres, String sql, Function<List<String>, T> read)
            throws SQLException {
        return postgres.rows(sql).stream().map(read).toList();
    }

    /** By the first column. */
    private static <T> Map<String, T> map(PostgresSide postgres, String sql, Function<List<String>, T> read)
            throws SQLException {
        return postgres.rows(sql).stream().collect(Collectors.toMap(row -> row.get(0), read));
    }
}
