package dev.hongbao.domain.books;

/** A wallet's transfers through their two indexes, which know the kinds of each side. */
final class WalletSides {
    static final String IN = "('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal')";
    static final String OUT = "('withdrawal', 'send', 'fund', 'cost', 'reversal')";

    private WalletSides() {}

    /**
     * SQL for an id up to which all of a wallet's transfers are older than a moment. An hour of tolerance: a transfer's time is that at
     * which its transaction began, minutes at the most before it got its id. 0, without a look, for a moment before all.
     */
    static String lastBefore(String wallet, String moment) {
        String last =
                "coalesce((select b.id from transfer as b where b.%s = " + wallet + " and b.kind in %s and b.at < "
                        + moment + "::timestamptz - interval '1 hour' order by b.id desc limit 1), 0)";
        return "case when " + moment + "::timestamptz <= timestamptz '2000-01-01 00:00Z' then 0 else greatest("
                + last.formatted("credit", IN) + ", " + last.formatted("debit", OUT) + ") end";
    }
}
