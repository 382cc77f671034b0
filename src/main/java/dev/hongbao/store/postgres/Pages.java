package dev.hongbao.store.postgres;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Processes a long result page by page. One page is held at a time, and no future waits for the next page. A chain of thousands
 * would keep its pages, and overflow the stack when the last one is done. Stateless.
 */
public final class Pages {
    private Pages() {}

    /**
     * Reads and writes page after page.
     *
     * @param <P> where a page begins
     * @param from where the first page begins
     * @param read reads a page; must not complete at once, as no store does
     * @param next where the page after the given one begins; null after the last
     * @param write takes a page that is not empty; the next one is read after its future succeeds
     * @return succeeds after the last page; fails with the first failure of a read or write
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
     * Runs page after page, until one reports that it was the last.
     *
     * @param page whether another page follows; must not complete at once
     * @return succeeds after the last page; fails with the first one that fails or throws
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
