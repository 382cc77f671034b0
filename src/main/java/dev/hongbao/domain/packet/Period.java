package dev.hongbao.domain.packet;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A time of records: a year as its reader's calendar has it, or any other. By Postgres' clock.
 *
 * @param from inclusive; null for all from the first on
 * @param to exclusive; null for all up to the latest
 */
public record Period(@Nullable Instant from, @Nullable Instant to) {
    /** All there is. */
    public static final Period ALL = new Period(null, null);

    /** A packet's id has the time of the server that made it: no clock of ours is as far from Postgres' own. */
    private static final long CLOCKS_APART_MILLIS = 86_400_000;

    private static final long LAST_MILLIS = (1L << 48) - 1;

    OffsetDateTime begins() {
        return from == null ? OffsetDateTime.MIN : from.atOffset(ZoneOffset.UTC);
    }

    OffsetDateTime ends() {
        return to == null ? OffsetDateTime.MAX : to.atOffset(ZoneOffset.UTC);
    }

    /** Less than the id of every packet that was made in it. */
    UUID firstId() {
        return from == null ? new UUID(0, 0) : id(from.toEpochMilli() - CLOCKS_APART_MILLIS);
    }

    /** More than the id of every packet that was made, or claimed, in it. */
    UUID lastId() {
        return to == null ? new UUID(-1, -1) : id(to.toEpochMilli() + CLOCKS_APART_MILLIS);
    }

    /** Before all ids of that millisecond (UUIDv7). */
    private static UUID id(long millis) {
        return new UUID(Math.min(LAST_MILLIS, Math.max(0, millis)) << 16, 0);
    }
}
