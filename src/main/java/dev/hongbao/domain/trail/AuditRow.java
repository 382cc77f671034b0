package dev.hongbao.domain.trail;

import dev.hongbao.common.values.Caller;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the audit log says of a call.
 *
 * @param request what named the request in its answer; null for a frame, and for one that stands for many
 * @param reference the host's own name for what it asked for; null for none
 * @param times how many calls alike it stands for, 1 or more
 */
public record AuditRow(
        Who who,
        @Nullable String request,
        What what,
        Outcome outcome,
        @Nullable String reference,
        long times) {
    /** Longer texts of a caller are cut off. */
    private static final int MAX_TEXT = 256;

    /**
     * Who called: by a token, or from an address without a valid one. All null for many.
     *
     * @param actor the token's subject
     * @param role of the token
     * @param address as it is counted for limits: of IPv6 the /64
     */
    public record Who(
            @Nullable String actor,
            @Nullable String role,
            @Nullable String address) {
        /** So many that they are not told apart. */
        static final Who MANY = new Who(null, null, null);

        /** Who has a valid token. */
        public static Who of(Caller caller) {
            return new Who(caller.user().value(), caller.role().name().toLowerCase(Locale.ROOT), null);
        }

        /** Who has none. */
        public static Who at(String address) {
            return new Who(null, null, address);
        }
    }

    /**
     * What was called.
     *
     * @param route as the contract writes it
     * @param subject whom or what the path names; null for nothing
     */
    public record What(
            String method, String route, @Nullable String subject) {}

    /** What was answered. @param problem the end of the problem's type; null for none */
    public record Outcome(int status, @Nullable String problem) {}

    /** Calls that are counted together. @param what without a subject where that may be made up */
    public record Kind(Who who, What what, Outcome outcome) {
        /** The same of so many that they are not told apart. */
        Kind ofMany() {
            return new Kind(Who.MANY, what.subject == null ? what : new What(what.method, what.route, null), outcome);
        }

        /** A row that tells no more. */
        public AuditRow row() {
            return new AuditRow(who, null, what, outcome, null, 1);
        }
    }

    /** A row as it is written. @param missed rows before it that its server could not keep */
    public record Written(long n, Instant at, AuditRow row, long missed) {}

    AuditRow times(long many) {
        return new AuditRow(who, request, what, outcome, reference, many);
    }

    /**
     * A text of a caller as the log holds it, whatever was sent: cut off, and visible ASCII alone.
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
