package dev.hongbao.domain.books;

import dev.hongbao.domain.ledger.WalletRecord;
import java.util.List;

/**
 * A wallet over a time: the opening balance and all its transfers are the closing balance, exactly.
 *
 * @param opening what it held by the transfers before, minor units
 * @param entries in the order in which they were booked
 * @param closing what it held with these
 */
public record Statement(long opening, List<WalletRecord> entries, long closing) {
    /** The most transfers of one statement. */
    public static final int MAX_ENTRIES = 10_000;

    public Statement {
        entries = List.copyOf(entries);
    }
}
