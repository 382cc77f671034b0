package dev.hongbao.web.webhook;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.regex.Pattern;

/** The header {@code Retry-After} (RFC 9110, 10.2.3): seconds, or a date. Pure. */
final class RetryAfter {
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int UNAVAILABLE = 503;

    /** More digits than any sensible wait. */
    private static final Pattern SECONDS = Pattern.compile("[0-9]{1,10}");

    private RetryAfter() {}

    /** Whether the header has a meaning with this status. */
    static boolean isMeant(int status) {
        return status == TOO_MANY_REQUESTS || status == UNAVAILABLE;
    }

    /**
     * Parses {@code Retry-After}.
     *
     * @param now for a date
     * @return zero for a past date, and for a malformed value
     */
    static Duration parse(String header, Instant now) {
        String text = header.strip();
        if (SECONDS.matcher(text).matches()) {
            return Duration.ofSeconds(Long.parseLong(text));
        }
        try {
            Duration wait = Duration.between(now, Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text)));
            return wait.isNegative() ? Duration.ZERO : wait;
        } catch (DateTimeException none) {
            return Duration.ZERO;
        }
    }
}
