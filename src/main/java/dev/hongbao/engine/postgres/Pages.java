package dev.hongbao.engine.postgres;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Goes through what is too long to be held, page by page. However many there are, one is held at a time, and no future waits for the one
 * after it: thousands that did would keep their pages, and overflow the stack as the last one is done. Stateless.
 */
public final class Pages {
    private Pages() {}

    /**
     * Reads page after page.
     *
     * @param <P> where a page begins
     * @param from where the first one does
     * @param read reads one; must not be done at once, as no store is
     * @param next where the one after a page begins; null when that was the last
     * @param write takes one that is not empty; the next is read when its future succeeds
     * @return succeeds after the last one; fails with the failure of the first read or write that fails
     */
    public static <P, T> Future<Void> each(
            P from,
            Function<P, Future<List<T>>> read,
            Function<List<T>, @Nullable P> next,
            Function<List<T>, Future<Void>> write) {
        AtomicReference<P> at = new AtomicReference<>(from);
        return repeat(() -> read.apply(at.get()).compose(page -> {
            @Nullable P after = next.apply(page);
            if (after != null) {
                at.set(after);
            }
            return (page.isEmpty() ? Future.<Void>succeededFuture() : write.apply(page)).map(written -> after != null);
        }));
    }

    /**
     * Does one page after the other, until one answers that it was the last.
     *
     * @param page whether there is one after it; must not be done at once
     * @return succeeds after the last one; fails with the failure of the first that fails, or throws
     */
    public static Future<Void> repeat(Supplier<Future<Boolean>> page) {
        Promise<Void> done = Promise.promise();
        next(page, done);
        return done.future();
    }

    private static void next(Supplier<Future<Boolean>> page, Promise<Void> done) {
        Future.succeededFuture().compose(begin -> page.get()).onComplete(more -> {
            if (more.failed()) {
                done.fail(more.cause());
            } else if (more.result()) {
                next(page, done);
            } else {
                done.complete();
            }
        });
    }
}
