package dev.hongbao.web.http;

import io.vertx.core.Future;

/**
 * How one call of the contract is answered. The caller, the parameters and the body have been checked by then.
 * Confined to its event loop.
 */
@FunctionalInterface
interface Route {
    /** Fails, or throws, what {@link dev.hongbao.web.api.Problem#ofFailure} knows, or a fault. */
    Future<Reply> answer(Call call);
}
