package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.bed.PostgresSide;
import dev.hongbao.tools.chaos.check.Rows;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Reads what the checker needs from the database. Blocking. */
final class RowReader {
    /** Of those whose wallets the clients move; the host's own pays for the draw. */
    private static final String USERS = "(w.owner like 'user-%' or w.owner like 'probe-%')";

    private RowReader() {}

    static Rows read(PostgresSide postgres) throws SQLException {
        List<Rows.Packet> packets = postgres
                .rows("select id, sender, count, amount, refund, closed_at is not null from packet"
                        + " where sender like 'user-%' or sender like 'probe-%'")
                .stream()
                .map(row -> new Rows.Packet(
                        row.get(0),
                        row.get(1),
                        Integer.parseInt(row.get(2)),
                        Long.parseLong(row.get(3)),
                        Long.parseLong(row.get(4)),
                        row.get(5).equals("t")))
                .toList();
        List<Rows.Claim> claims = postgres.rows("select packet, user_id, slot, amount from claim").stream()
                .map(row -> new Rows.Claim(
                        row.get(0), row.get(1), Integer.parseInt(row.get(2)), Long.parseLong(row.get(3))))
                .toList();
        List<Rows.Command> commands = postgres
                .rows("select c.operation, c.key, c.id, t.amount from command as c join transfer as t"
                        + " on t.subject = c.id and t.kind in ('send', 'deposit', 'withdrawal')"
                        + " where c.operation in ('send', 'deposit', 'withdrawal') and c.key not like 'setup-%'"
                        // the rain itself sends its drops
                        + " and not exists (select from pool as p join campaign as r on r.id = p.campaign"
                        + " where p.packet = c.id and r.kind = 'rain')")
                .stream()
                .map(row -> new Rows.Command(row.get(0), row.get(1), row.get(2), Long.parseLong(row.get(3))))
                .toList();
        Map<String, Rows.Pool> pools = postgres
                .rows("select p.packet, c.id, c.definition -> 'claiming' ->> 'total', c.kind = 'rain'"
                        + " from pool as p join campaign as c on c.id = p.campaign")
                .stream()
                .collect(Collectors.toMap(
                        row -> row.get(0),
                        row -> new Rows.Pool(
                                row.get(1),
                                Integer.parseInt(row.get(2)),
                                row.get(3).equals("t"))));
        return new Rows(
                packets,
                claims,
                pools,
                commands,
                sums(
                        postgres,
                        "select w.owner, w.balance from account as w where w.kind = 'wallet' and w.asset = 'CNY'"
                                + " and " + USERS),
                sums(
                        postgres,
                        "select w.owner, sum(case when t.credit = w.id then t.amount else -t.amount end)"
                                + " from account as w join transfer as t on w.id in (t.credit, t.debit)"
                                + " where w.kind = 'wallet' and w.asset = 'CNY' and t.kind in ('cost', 'return', 'award') and "
                                + USERS + " group by w.owner"));
    }

    private static Map<String, Long> sums(PostgresSide postgres, String sql) throws SQLException {
        return postgres.rows(sql).stream()
                .collect(Collectors.toMap(row -> row.get(0), row -> Long.parseLong(row.get(1))));
    }
}
