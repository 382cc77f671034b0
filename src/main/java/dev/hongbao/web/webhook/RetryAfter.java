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

    /** More digits than anybody waits for. */
    private static final Pattern SECONDS = Pattern.compile("[0-9]{1,10}");

    private RetryAfter() {}

    /** Whether an answer's status gives the header its meaning. */
    static boolean isMeant(int status) {
        return status == TOO_MANY_REQUESTS || status == UNAVAILABLE;
    }

    /**
     * How long to wait.
     *
     * @param now for a date
     * @return zero for what is over, and for what is neither seconds nor a date
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
