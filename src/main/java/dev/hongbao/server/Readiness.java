package dev.hongbao.server;

import dev.hongbao.doctor.Check;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The checks of {@code /health/ready}. Stateless. */
final class Readiness {
    /** Between two questions to a store: a load balancer with many nodes is no load. */
    private static final Duration STORE_ASKED_EVERY = Duration.ofSeconds(1);

    private Readiness() {}

    /** By name; true = well. @param staying false once the server is stopping */
    static Map<String, Supplier<Future<Boolean>>> checks(BooleanSupplier staying, Engine engine, HttpLoops loops) {
        Map<String, Supplier<Future<Boolean>>> checks = new LinkedHashMap<>();
        checks.put(Check.STAYING.ready, () -> Future.succeededFuture(staying.getAsBoolean()));
        checks.put(Check.POSTGRES.ready, remembered(engine::isPostgresReachable));
        checks.put(Check.REDIS.ready, remembered(engine::isRedisReachable));
        checks.put(Check.SHARDS.ready, () -> Future.succeededFuture(engine.isReady()));
        checks.putAll(loops.checks());
        return checks;
    }

    private static Supplier<Future<Boolean>> remembered(Supplier<Future<Boolean>> ofStore) {
        return remembered(ofStore, STORE_ASKED_EVERY, System::nanoTime);
    }

    /**
     * A check that asks a store at most once in {@code life}; callers in between get or await the same answer.
     *
     * @param nanoTime a monotonic clock
     */
    static Supplier<Future<Boolean>> remembered(Supplier<Future<Boolean>> check, Duration life, LongSupplier nanoTime) {
        return new Supplier<>() {
            private @Nullable Future<Boolean> latest;
            private long askedNanos;

            @Override
            public synchronized Future<Boolean> get() {
                long now = nanoTime.getAsLong();
                if (latest == null || now - askedNanos >= life.toNanos()) {
                    latest = check.get();
                    askedNanos = now;
                }
                return latest;
            }
        };
    }

    /**
     * A check for each event loop that serves requests: whether it still runs. A hung loop answers no request, but its connections
     * look open. Thread-safe.
     */
    static final class HttpLoops {
        private final AtomicReferenceArray<Context> loops;

        /** @param count how many there will be, 1 or more */
        HttpLoops(int count) {
            this.loops = new AtomicReferenceArray<>(count);
        }

        /** Adds a serving loop; ignored beyond {@code count}. */
        void serving(Context loop) {
            for (int i = 0; i < loops.length(); i++) {
                if (loops.compareAndSet(i, null, loop)) {
                    return;
                }
            }
        }

        /** {@code http-loop-1} and so on: true once the loop has run a task; a loop that does not serve yet is not well. */
        Map<String, Supplier<Future<Boolean>>> checks() {
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
}
