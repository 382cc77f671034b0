package dev.hongbao.page;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;

/**
 * A check for each event loop that serves requests: whether it still runs. A hung loop answers no request, but its connections
 * look open. Thread-safe.
 */
public final class HttpLoops {
    private final AtomicReferenceArray<Context> loops;

    /** @param count how many there will be, 1 or more */
    public HttpLoops(int count) {
        this.loops = new AtomicReferenceArray<>(count);
    }

    /** Adds a serving loop; ignored beyond {@code count}. */
    public void serving(Context loop) {
        for (int i = 0; i < loops.length(); i++) {
            if (loops.compareAndSet(i, null, loop)) {
                return;
            }
        }
    }

    /** {@code http-loop-1} and so on: true once the loop has run a task; a loop that does not serve yet is not well. */
    public Map<String, Supplier<Future<Boolean>>> checks() {
        Map<String, Supplier<Future<Boolean>>> checks = new LinkedHashMap<>();
        for (int i = 0; i < loops.length(); i++) {
            int loop = i;
            checks.put("http-loop-" + (i + 1), () -> ask(loop));
        }
        return checks;
    }

    private Future<Boolean> ask(int index) {
        Context loop = loops.get(index);
        if (loop == null) {
            return Future.succeededFuture(false);
        }
        // A promise without a context: a timer on the hung loop would never fire.
        Promise<Boolean> answer = Promise.promise();
        loop.runOnContext(turns -> answer.complete(true));
        return answer.future();
    }
}
