package dev.hongbao.domain.books;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.TransferKind;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A filter of transfers. All given fields must match.
 *
 * @param reference the host's reference of the command; null for any
 * @param user whose wallet pays or receives; null for any
 * @param kind null for all
 * @param from earliest time, inclusive; null for no start
 * @param to exclusive; null for now
 */
public record TransferFilter(
        @Nullable String reference,
        @Nullable UserId user,
        @Nullable TransferKind kind,
        @Nullable Instant from,
        @Nullable Instant to) {}
