package dev.hongbao.domain.claim;

import io.vertx.core.Future;

/**
 * The two answers to one claim.
 *
 * @param accepted completes first: {@code ACCEPTED}, or the final outcome if no wait was needed
 * @param settled the final outcome, never {@code ACCEPTED}
 */
public record ClaimAnswers(Future<ClaimOutcome> accepted, Future<ClaimOutcome> settled) {

    /** Both answers of a claim with an immediate outcome. */
    public static ClaimAnswers of(ClaimOutcome outcome) {
        Future<ClaimOutcome> known = Future.succeededFuture(outcome);
        return new ClaimAnswers(known, known);
    }
}
