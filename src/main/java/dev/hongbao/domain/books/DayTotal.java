package dev.hongbao.domain.books;

import dev.hongbao.domain.ledger.TransferKind;
import java.math.BigInteger;
import java.time.LocalDate;

/**
 * The total of a day's transfers in UTC.
 *
 * @param transfers their number
 * @param amount of all, minor units; a total may exceed a {@code long}
 */
public record DayTotal(LocalDate day, String asset, TransferKind kind, long transfers, BigInteger amount) {}
