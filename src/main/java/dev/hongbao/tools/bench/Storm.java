package dev.hongbao.tools.bench;

import dev.hongbao.server.LoopServices;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * A closed loop of calls on the services: every event loop keeps a number of them under way until all are made. Blocking, for
 * one thread, once.
 *
 * @param <R> what a call ends with
 */
final class Storm<R> {
    /** Of what {@link #ended} counts. */
    static final int BUCKET_MILLIS = 100;

    /** Calls under way on a loop; a batch or more in each stage of the path. */
    private static final int WINDOW = 2_048;

    private static final long LONGEST_MICROS = 120_000_000;

    private final BenchBed bed;
    private final int count;
    private final StormCall<R> call;
    private final List<Part> parts = new ArrayList<>();
    private long begunNanos;

    /** One kind of call. */
    interface StormCall<R> {
        /** StormCall number n, on its loop. */
        Future<R> on(LoopServices services, int n);

        /** Whether it ended as it should. */
        boolean isRight(R result);
    }

    Storm(BenchBed bed, int count, StormCall<R> call) {
        this.bed = bed;
        this.count = count;
        this.call = call;
    }

    /** Makes all calls; returns how many a second. Fails when one of them ends otherwise than it should. */
    double run() throws Exception {
        int loops = bed.loops().size();
        for (int i = 0; i < loops; i++) {
            parts.add(new Part(bed.loops().get(i), i, loops));
        }
        begunNanos = System.nanoTime();
        BenchBed.await(Future.all(parts.stream().map(Part::run).toList()));
        return count / ((System.nanoTime() - begunNanos) / 1e9);
    }

    /** Microseconds that each call took; after the run. */
    Histogram micros() {
        Histogram all = new Histogram(LONGEST_MICROS, 3);
        parts.forEach(part -> all.add(part.micros));
        return all;
    }

    /** When the calls ended; after the run. */
    Timeline ended() {
        Timeline all = new Timeline(BUCKET_MILLIS);
        parts.forEach(part -> all.add(part.timeline));
        return all;
    }

    /** Every {@code step}th call from {@code first} on, on one loop. */
    private final class Part {
        private final BenchBed.Loop loop;
        private final int step;
        private final Promise<Void> done = Promise.promise();
        private final Timeline timeline = new Timeline(BUCKET_MILLIS);
        private final Histogram micros = new Histogram(LONGEST_MICROS, 3);
        private int next;
        private int underWay;
        private boolean filling;

        Part(BenchBed.Loop loop, int first, int step) {
            this.loop = loop;
            this.next = first;
            this.step = step;
        }

        Future<Void> run() {
            loop.context().runOnContext(now -> fill());
            return done.future();
        }

        private void fill() {
            if (filling) {
                return;
            }
            filling = true;
            while (underWay < WINDOW && next < count) {
                int n = next;
                next += step;
                underWay++;
                long sent = System.nanoTime();
                call.on(loop.services(), n).onComplete(ended -> {
                    if (ended.succeeded() && call.isRight(ended.result())) {
                        ended(sent);
                    } else {
                        done.tryFail(new IllegalStateException("call " + n + ": " + ended, ended.cause()));
                    }
                });
            }
            filling = false;
            if (next >= count && underWay == 0) {
                done.tryComplete();
            }
        }

        private void ended(long sent) {
            underWay--;
            long now = System.nanoTime();
            timeline.at(now - begunNanos);
            micros.recordValue(Math.min(LONGEST_MICROS, (now - sent) / 1_000));
            if (next >= count && underWay == 0) {
                done.tryComplete();
            } else if (underWay <= WINDOW / 2) {
                fill();
            }
        }
    }
}
