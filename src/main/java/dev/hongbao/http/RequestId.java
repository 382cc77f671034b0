package dev.hongbao.http;

import io.vertx.core.http.HttpServerRequest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The id of a request in its answer, in a problem and in the log. It is the caller's {@code X-Request-Id}, else the trace id of
 * {@code traceparent} (W3C Trace Context), else generated; malformed ones are ignored. Callers may repeat ids: they serve
 * people's searches, and no logic depends on them.
 */
final class RequestId {
    /** The header, in requests and answers. */
    static final String HEADER = "x-request-id";

    /** Needs no escape in JSON, headers or log lines. */
    private static final Pattern WELL_FORMED = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    /** Version 00, or a later one, which may append fields; ff and ids of zeros are invalid. */
    private static final Pattern TRACEPARENT = Pattern.compile(
            "(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.{0,200})?");

    private static final int TRACEPARENT_LENGTH = 55;

    private static final String PREFIX = prefix();
    private static final AtomicLong MADE = new AtomicLong();

    private RequestId() {}

    private static String prefix() {
        byte[] random = new byte[6];
        new SecureRandom().nextBytes(random);
        return HexFormat.of().formatHex(random) + "-";
    }

    static String of(HttpServerRequest request) {
        String given = request.getHeader(HEADER);
        if (given != null && WELL_FORMED.matcher(given).matches()) {
            return given;
        }
        String trace = trace(request.getHeader("traceparent"));
        return trace != null ? trace : PREFIX + Long.toString(MADE.incrementAndGet(), Character.MAX_RADIX);
    }

    /** The trace id, 32 hexadecimal digits; null if malformed. */
    static @Nullable String trace(@Nullable String traceparent) {
        if (traceparent == null || (traceparent.startsWith("00-") && traceparent.length() != TRACEPARENT_LENGTH)) {
            return null;
        }
        var matcher = TRACEPARENT.matcher(traceparent);
        return matcher.matches() ? matcher.group(1) : null;
    }
}
