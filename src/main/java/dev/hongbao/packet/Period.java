package dev.hongbao.packet;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A period of records by Postgres' clock: a year in its reader's calendar, or any other.
 *
 * @param from inclusive; null for no start
 * @param to exclusive; null for no end
 */
public record Period(@Nullable Instant from, @Nullable Instant to) {
    /** All times. */
    public static final Period ALL = new Period(null, null);

    /** An assumed limit on the difference between a server's clock, which makes the ids, and Postgres' clock. */
    private static final long CLOCKS_APART_MILLIS = 86_400_000;

    private static final long LAST_MILLIS = (1L << 48) - 1;

    OffsetDateTime begins() {
        return from == null ? OffsetDateTime.MIN : from.atOffset(ZoneOffset.UTC);
    }

    OffsetDateTime ends() {
        return to == null ? OffsetDateTime.MAX : to.atOffset(ZoneOffset.UTC);
    }

    /** Below the id of every packet made in the period. */
    UUID firstId() {
        return from == null ? new UUID(0, 0) : id(from.toEpochMilli() - CLOCKS_APART_MILLIS);
    }

    /** Above the id of every packet made or claimed in the period. */
    UUID lastId() {
        return to == null ? new UUID(-1, -1) : id(to.toEpochMilli() + CLOCKS_APART_MILLIS);
    }

    /** Sorts before all ids of that millisecond (UUIDv7). */
    private static UUID id(long millis) {
        return new UUID(Math.min(LAST_MILLIS, Math.max(0, millis)) << 16, 0);
    }
}
