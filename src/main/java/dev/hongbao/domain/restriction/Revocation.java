package dev.hongbao.domain.restriction;

import dev.hongbao.common.values.UserId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * All tokens of a user that were made before a moment are void.
 *
 * @param notBefore the moment, a whole second: a token that says this second or a later one is good
 * @param by whose token it was that revoked
 * @param reason one line of 1 to 200 characters; null for none
 * @param at when it was done
 */
public record Revocation(
        UserId user, Instant notBefore, String by, @Nullable String reason, Instant at) {}
