package dev.hongbao.web.access;

import dev.hongbao.common.values.Caller;
import org.jspecify.annotations.Nullable;

/**
 * What a token is worth: exactly one of the two is set.
 *
 * @param caller who calls; null for a token that is not believed
 * @param fault why not; null for a token that is believed
 */
public record TokenVerdict(
        @Nullable Caller caller, @Nullable Fault fault) {
    /** Why a token is not believed. The sentences are for clients. */
    public enum Fault {
        TOO_LONG("the token is longer than 8 KiB"),
        MALFORMED("the token is not a signed JWT"),
        ALGORITHM("the token's algorithm or key is not one that this server accepts"),
        SIGNATURE("the token's signature is wrong"),
        NO_EXPIRY("the token has no exp"),
        EXPIRED("the token has expired"),
        LIFE("the token's exp is further away than this server allows"),
        REVOKED("the token was made before the user's tokens were revoked, or does not say when (iat)"),
        NOT_YET("the token is not valid yet"),
        ISSUER("the token is from another issuer"),
        AUDIENCE("the token is for another audience"),
        SUBJECT("the token's sub is not a user id"),
        GROUPS("the token's groups are not a list of at most 1000 group ids"),
        ROLE("the token's role is neither user nor service");

        private final String sentence;

        Fault(String sentence) {
            this.sentence = sentence;
        }

        /** What is wrong, in words. */
        public String sentence() {
            return sentence;
        }
    }

    static TokenVerdict believed(Caller caller) {
        return new TokenVerdict(caller, null);
    }

    static TokenVerdict refused(Fault fault) {
        return new TokenVerdict(null, fault);
    }
}
