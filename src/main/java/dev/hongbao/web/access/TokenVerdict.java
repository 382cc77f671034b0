package dev.hongbao.web.access;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a token is worth: either the caller or the fault is set.
 *
 * @param caller who calls; null for a token that is not believed
 * @param fault why not; null for a token that is believed
 * @param named what the fault names; null for nothing
 */
public record TokenVerdict(
        @Nullable Caller caller,
        @Nullable Fault fault,
        @Nullable Object named) {
    /** Why a token is not believed. The texts have a sentence of each. */
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

    /** Why the token is not believed, as the contract has it: {@code not-yet}. */
    public String reason() {
        return Objects.requireNonNull(fault).name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The same in words. */
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
