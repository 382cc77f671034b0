package dev.hongbao.access;

import dev.hongbao.values.Caller;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The audit log's record of a call.
 *
 * @param request id of the request in its answer; null for a frame, and for a row of many calls
 * @param reference the host's own reference; null for none
 * @param times the number of equal calls, 1 or more
 */
public record AuditRow(
        Who who,
        @Nullable String request,
        What what,
        Outcome outcome,
        @Nullable String reference,
        long times) {
    /** The longest text of a caller; longer ones are cut. */
    private static final int MAX_TEXT = 256;

    /**
     * The caller: by a token, or by address without a valid one. All null for many callers.
     *
     * @param actor the token's subject
     * @param role of the token
     * @param address in the unit of the limits: for IPv6 the /64
     */
    public record Who(
            @Nullable String actor,
            @Nullable String role,
            @Nullable String address) {
        /** Many callers, counted together. */
        static final Who MANY = new Who(null, null, null);

        /** A caller with a valid token. */
        public static Who of(Caller caller) {
            return new Who(caller.user().value(), caller.role().name().toLowerCase(Locale.ROOT), null);
        }

        /** A caller without a valid token. */
        public static Who at(String address) {
            return new Who(null, null, address);
        }
    }

    /**
     * The call.
     *
     * @param route as in the contract
     * @param subject the user or thing in the path; null for none
     */
    public record What(
            String method, String route, @Nullable String subject) {}

    /**
     * The answer.
     *
     * @param problem the end of the problem's type; null for none
     */
    public record Outcome(int status, @Nullable String problem) {}

    /**
     * Calls that are counted together.
     *
     * @param what without a subject if the caller may invent it
     */
    public record Kind(Who who, What what, Outcome outcome) {
        /** A copy for many callers, counted together. */
        Kind ofMany() {
            return new Kind(Who.MANY, what.subject == null ? what : new What(what.method, what.route, null), outcome);
        }

        /** A row with this kind's facts only. */
        public AuditRow row() {
            return new AuditRow(who, null, what, outcome, null, 1);
        }
    }

    /**
     * A stored row.
     *
     * @param missed earlier rows that its server lost
     */
    public record Written(long n, Instant at, AuditRow row, long missed) {}

    AuditRow times(long many) {
        return new AuditRow(who, request, what, outcome, reference, many);
    }

    /**
     * A caller's text for the log: cut, with visible ASCII only.
     *
     * @return null for null and for an empty text
     */
    public static @Nullable String text(@Nullable String sent) {
        if (sent == null || sent.isEmpty()) {
            return null;
        }
        StringBuilder text = new StringBuilder(sent.substring(0, Math.min(sent.length(), MAX_TEXT)));
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < '!' || c > '~') {
                text.setCharAt(i, '?');
            }
        }
        return text.toString();
    }
}
