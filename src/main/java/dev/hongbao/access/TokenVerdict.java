package dev.hongbao.access;

import dev.hongbao.values.Caller;
import dev.hongbao.values.Text;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The result of a token check: either the caller or the fault is set.
 *
 * @param caller null for a refused token
 * @param fault null for an accepted token
 * @param named what the fault names; null for nothing
 */
public record TokenVerdict(
        @Nullable Caller caller,
        @Nullable Fault fault,
        @Nullable Object named) {
    /** The fault of a refused token. The texts have a sentence for each. */
    public enum Fault {
        TOO_LONG,
        MALFORMED,
        ALGORITHM,
        CRITICAL,
        SIGNATURE,
        CLAIMS,
        NO_EXPIRY,
        EXPIRY,
        EXPIRED,
        LIFE,
        REVOKED,
        NOT_BEFORE,
        NOT_YET,
        ISSUER,
        AUDIENCE,
        SUBJECT,
        GROUPS,
        GROUP,
        ROLE
    }

    /** The fault as the contract names it, such as {@code not-yet}. */
    public String reason() {
        return Objects.requireNonNull(fault).name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** {@link #reason} as a sentence. */
    public Text sentence() {
        return named == null ? Text.of("token." + reason()) : Text.of("token." + reason(), named);
    }

    static TokenVerdict believed(Caller caller) {
        return new TokenVerdict(caller, null, null);
    }

    /** Refused, by a fault that names nothing. */
    public static TokenVerdict refused(Fault fault) {
        return new TokenVerdict(null, fault, null);
    }

    static TokenVerdict refused(Fault fault, Object named) {
        return new TokenVerdict(null, fault, named);
    }
}
