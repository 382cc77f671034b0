package dev.hongbao.domain.packet;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import io.vertx.core.Future;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** A kind of read that takes as long as a user has records: of each user one is under way at a time. Thread-safe. */
final class OnePerUser {
    private final Text refusal;
    private final Set<UserId> underWay = ConcurrentHashMap.newKeySet();

    /** @param refusal what who asks for another one is told */
    OnePerUser(Text refusal) {
        this.refusal = refusal;
    }

    /** Reads. @return fails with {@link UnavailableException#overloaded} while another one of the user's is under way */
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
