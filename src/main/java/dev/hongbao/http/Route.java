package dev.hongbao.http;

import io.vertx.core.Future;

/** Answers one call of the contract. The caller, the parameters and the body have been checked before. Confined to its event loop. */
@FunctionalInterface
public interface Route {
    /** Fails, or throws, with an exception that {@link dev.hongbao.http.Problem#ofFailure} knows, or with a fault. */
    Future<Reply> answer(Call call);
}
