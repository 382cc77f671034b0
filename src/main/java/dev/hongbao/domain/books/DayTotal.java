package dev.hongbao.domain.books;

import dev.hongbao.domain.ledger.TransferKind;
import java.math.BigInteger;
import java.time.LocalDate;

/**
 * What was moved on a day in UTC.
 *
 * @param transfers how many
 * @param amount of all, minor units; of many days' worth of money a {@code long} may not hold it
 */
public record DayTotal(LocalDate day, String asset, TransferKind kind, long transfers, BigInteger amount) {}
