package dev.hongbao.tools.bench;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Predicate;

/**
 * A closed loop of calls on event loops: each loop keeps a window under way until all are made. Call n is on loop n mod loops.
 * Blocking, confined to one thread.
 */
record Storm<R>(List<Context> loops, int count, int window, IntFunction<Future<R>> call, Predicate<R> isRight) {
    /** Calls under way on a loop: a batch or more in each stage of a claim's path. */
    static final int WINDOW = 2_048;

    /**
     * @return calls a second
     * @throws Exception when a call fails or ends wrong, or all of them take longer than {@link BenchBed#await} waits
     */
    double run() throws Exception {
        long begun = System.nanoTime();
        List<Future<Void>> parts = new ArrayList<>();
        for (int i = 0; i < loops.size(); i++) {
            Part part = new Part(i);
            loops.get(i).runOnContext(now -> part.fill());
            parts.add(part.done.future());
        }
        BenchBed.await(Future.all(parts));
        return count * 1e9 / (System.nanoTime() - begun);
    }

    /** The calls of one loop. */
    private final class Part {
        private final Promise<Void> done = Promise.promise();
        private int next;
        private int underWay;
        private boolean filling;

        Part(int first) {
            this.next = first;
        }

        void fill() {
            if (filling) {
                return;
            }
            filling = true;
            while (underWay < window && next < count) {
                int n = next;
                next += loops.size();
                underWay++;
                call.apply(n).onComplete(ended -> {
                    underWay--;
                    if (ended.failed() || !isRight.test(ended.result())) {
                        done.tryFail(new IllegalStateException("call " + n + ": " + ended, ended.cause()));
                    } else if (underWay <= window / 2) {
                        fill();
                    }
                });
            }
            filling = false;
            if (next >= count && underWay == 0) {
                done.tryComplete();
            }
        }
    }
}
