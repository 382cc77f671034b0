package dev.hongbao.domain.books;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.TransferKind;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Which transfers are looked for: those that fit all that is given.
 *
 * @param reference what the host calls the command; null for any
 * @param user in or out of whose wallets; null for anybody's
 * @param kind null for all
 * @param from made then or later; null from the beginning
 * @param to made before; null until now
 */
public record TransferFilter(
        @Nullable String reference,
        @Nullable UserId user,
        @Nullable TransferKind kind,
        @Nullable Instant from,
        @Nullable Instant to) {}
