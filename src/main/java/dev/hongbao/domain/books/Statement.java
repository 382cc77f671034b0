package dev.hongbao.domain.books;

import dev.hongbao.domain.ledger.WalletRecord;
import java.util.List;

/**
 * A wallet's statement of a period. The opening balance plus all its transfers is the closing balance, exactly.
 *
 * @param opening the balance before, minor units
 * @param entries in the order of booking
 * @param closing the balance after these entries
 */
public record Statement(long opening, List<WalletRecord> entries, long closing) {
    /** The most transfers of one statement. */
    public static final int MAX_ENTRIES = 10_000;

    public Statement {
        entries = List.copyOf(entries);
    }
}
