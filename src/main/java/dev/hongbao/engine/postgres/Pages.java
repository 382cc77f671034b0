package dev.hongbao.engine.postgres;

import io.vertx.core.Future;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Goes through what is too long to be held, page by page. Stateless. */
public final class Pages {
    private Pages() {}

    /**
     * Reads page after page. However many there are, one is held at a time: the futures of all of them wait for the last, and none of them
     * knows its page.
     *
     * @param <P> where a page begins
     * @param from where the first one does
     * @param read reads one
     * @param next where the one after a page begins; null when that was the last
     * @param write takes one that is not empty; the next is read when its future succeeds
     * @return done after the last one; fails as the first of the reads and writes that does
     */
    public static <P, T> Future<Void> each(
            P from,
            Function<P, Future<List<T>>> read,
            Function<List<T>, @Nullable P> next,
            Function<List<T>, Future<Void>> write) {
        return read.apply(from).compose(page -> {
            @Nullable P after = next.apply(page);
            return (page.isEmpty() ? Future.<Void>succeededFuture() : write.apply(page))
                    .compose(written -> after == null ? Future.succeededFuture() : each(after, read, next, write));
        });
    }
}
