package dev.hongbao.domain.ledger;

import io.vertx.sqlclient.Row;

/** The common part of queries over a wallet's transfers {@code t}: subject and book facts, and the reader of these rows. Pure. */
public final class WalletRows {
    /** Columns beside {@code id}, {@code kind}, {@code amount} and {@code at}, from {@link #JOINS}. */
    public static final String COLUMNS = """
            case when t.kind in ('send', 'claim') or t.kind = 'refund' and d.id is null and c.id is null
                 then t.subject end as packet,
            case when t.kind in ('cost', 'return', 'award', 'proceeds') then t.subject else d.id end as draw,
            c.id as campaign, m.id as command, m.reference, m.reason, r.transfer as reverses, b.command as reversed_by
            """;

    /** Joins after {@code t}. */
    public static final String JOINS = """
            left join lateral (select id from draw where id = t.subject and t.kind in ('fund', 'refund') limit 1) as d on true
            left join lateral (select id from campaign where id = t.subject and t.kind in ('fund', 'refund') limit 1) as c on true
            left join command as m on m.id = command_of(t.subject, t.id, t.kind)
            left join reversal as r on r.command = t.subject
            left join reversal as b on b.subject = t.subject and b.transfer = t.id
            """;

    private WalletRows() {}

    /**
     * Reads a row.
     *
     * @param credit as in {@link WalletRecord.Change}
     */
    public static WalletRecord entry(Row row, boolean credit, Asset asset) {
        return new WalletRecord(
                row.getLong("id"),
                TransferKind.of(row.getString("kind")),
                new WalletRecord.Change(credit, asset, row.getLong("amount")),
                new WalletRecord.Subject(row.getUUID("packet"), row.getUUID("draw"), row.getUUID("campaign")),
                new WalletRecord.Books(
                        row.getUUID("command"),
                        new Note(row.getString("reference"), row.getString("reason")),
                        row.getLong("reverses"),
                        row.getUUID("reversed_by")),
                row.getOffsetDateTime("at").toInstant());
    }
}
