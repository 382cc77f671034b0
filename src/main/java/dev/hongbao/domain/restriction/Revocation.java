package dev.hongbao.domain.restriction;

import dev.hongbao.common.values.UserId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A revocation of all tokens of a user that were made before a moment.
 *
 * @param notBefore the moment, a whole second; a token of this second or later is valid
 * @param by the subject of the revoking token
 * @param reason one line of 1 to 200 characters; null for none
 * @param at time of the revocation
 */
public record Revocation(
        UserId user, Instant notBefore, String by, @Nullable String reason, Instant at) {}
