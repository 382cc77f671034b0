package dev.hongbao.domain.claim;

import io.vertx.core.Future;

/**
 * The two answers to one claim.
 *
 * @param accepted completes first: {@code ACCEPTED}, or the final outcome when it is known without waiting
 * @param settled the final outcome: never {@code ACCEPTED}
 */
public record ClaimAnswers(Future<ClaimOutcome> accepted, Future<ClaimOutcome> settled) {

    /** The answers to a claim whose outcome is known at once. */
    public static ClaimAnswers of(ClaimOutcome outcome) {
        Future<ClaimOutcome> known = Future.succeededFuture(outcome);
        return new ClaimAnswers(known, known);
    }
}
