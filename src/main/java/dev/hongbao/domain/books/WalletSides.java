package dev.hongbao.domain.books;

/** A wallet's transfers through their two indexes, one for each side and its kinds. */
final class WalletSides {
    static final String IN = "('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal')";
    static final String OUT = "('withdrawal', 'send', 'fund', 'cost', 'reversal')";

    private WalletSides() {}

    /**
     * SQL for an id: all the wallet's transfers up to it are older than a moment. With an hour of tolerance, since a transfer's time is the
     * start of its transaction, some minutes before its id. 0, without a lookup, for a moment before all transfers.
     */
    static String lastBefore(String wallet, String moment) {
        String last =
                "coalesce((select b.id from transfer as b where b.%s = " + wallet + " and b.kind in %s and b.at < "
                        + moment + "::timestamptz - interval '1 hour' order by b.id desc limit 1), 0)";
        return "case when " + moment + "::timestamptz <= timestamptz '2000-01-01 00:00Z' then 0 else greatest("
                + last.formatted("credit", IN) + ", " + last.formatted("debit", OUT) + ") end";
    }
}
