package dev.hongbao.values;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;

/** Reads times of clients. */
public final class Times {
    private Times() {}

    /**
     * A time of RFC 3339, cut to Postgres' microseconds.
     *
     * @param pointer the place of the text in the input
     * @throws InvalidInputException for another text
     */
    public static Instant read(String pointer, String text) {
        try {
            return OffsetDateTime.parse(text).toInstant().truncatedTo(ChronoUnit.MICROS);
        } catch (DateTimeException malformed) {
            throw InvalidInputException.of(pointer, Text.of("time.malformed"));
        }
    }
}
