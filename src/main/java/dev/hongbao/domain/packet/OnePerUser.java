package dev.hongbao.domain.packet;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import io.vertx.core.Future;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Limits an expensive kind of read to one at a time per user. For reads that take longer the more records a user has. Thread-safe. */
final class OnePerUser {
    private final Text refusal;
    private final Set<UserId> underWay = ConcurrentHashMap.newKeySet();

    /** @param refusal the text for a second read of the same user */
    OnePerUser(Text refusal) {
        this.refusal = refusal;
    }

    /**
     * Runs the read.
     *
     * @return fails with {@link UnavailableException#overloaded} during another read of the user
     */
    <T> Future<T> read(UserId user, Supplier<Future<T>> read) {
        if (!underWay.add(user)) {
            return Future.failedFuture(UnavailableException.overloaded(refusal));
        }
        Future<T> begun;
        try {
            begun = read.get();
        } catch (RuntimeException fault) {
            underWay.remove(user);
            throw fault;
        }
        return begun.onComplete(done -> underWay.remove(user));
    }
}
