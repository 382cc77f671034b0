package dev.hongbao.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.store.postgres.Rows.Pages;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read page by page. */
class PagesTest {
    private static final int PAGES = 4;

    /** What a store answers later: else a page would be held by the thread that reads the next. */
    private final Deque<Runnable> later = new ArrayDeque<>();

    private Future<List<Integer>> read(int from) {
        Promise<List<Integer>> page = Promise.promise();
        later.add(() -> page.complete(new ArrayList<>(List.of(from, from + 1))));
        return page.future();
    }

    private Future<Void> answered() {
        Promise<Void> written = Promise.promise();
        later.add(written::complete);
        return written.future();
    }

    private void run() {
        while (!later.isEmpty()) {
            later.poll().run();
        }
    }

    @Test
    void eachPageIsWrittenOnceAndInOrder() {
        List<Integer> seen = new ArrayList<>();

        Future<Void> done =
                Pages.each(0, this::read, page -> page.get(1) < PAGES - 1 ? page.get(1) + 1 : null, page -> {
                    seen.addAll(page);
                    return answered();
                });
        run();

        assertThat(done.succeeded()).isTrue();
        assertThat(seen).hasSize(PAGES).isSorted();
    }

    @Test
    void aPageThatCannotBeWrittenIsTheLast() {
        List<Integer> seen = new ArrayList<>();

        Future<Void> done = Pages.each(0, this::read, page -> page.get(1) + 1, page -> {
            seen.addAll(page);
            return page.get(0) == 4 ? Future.failedFuture("the client is gone") : answered();
        });
        run();

        assertThat(done.failed()).isTrue();
        assertThat(seen).containsExactly(0, 1, 2, 3, 4, 5);
    }

    @Test
    void noPageIsHeldThatIsWritten() {
        List<WeakReference<List<Integer>>> pages = new ArrayList<>();
        List<Long> held = new ArrayList<>();

        Future<Void> done = Pages.each(0, this::read, page -> page.get(1) < PAGES ? page.get(1) + 1 : null, page -> {
            pages.add(new WeakReference<>(page));
            return answered();
        });
        while (!later.isEmpty()) {
            later.poll().run();
            System.gc();
            held.add(pages.stream().filter(page -> page.get() != null).count());
        }

        assertThat(done.succeeded()).isTrue();
        assertThat(held).allMatch(count -> count <= 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anyNumberOfPagesHasAnEnd(boolean isRead) {
        int many = 200_000;

        Future<Void> done = Pages.each(
                0,
                this::read,
                page -> page.get(1) < many ? page.get(1) + 1 : null,
                page -> isRead || page.get(1) < many ? answered() : Future.failedFuture("the client is gone"));
        run();

        assertThat(done.isComplete()).isTrue();
        assertThat(done.succeeded()).isEqualTo(isRead);
    }
}
