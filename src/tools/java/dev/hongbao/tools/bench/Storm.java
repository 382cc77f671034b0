package dev.hongbao.tools.bench;

import dev.hongbao.server.Services;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Calls on the services, on every event loop, until all are made. In a closed loop each keeps a number of them under way; their times are
 * what that number takes, so the inverse of the speed. {@linkplain #paced Paced}, calls are due at a constant rate, and each one's time
 * counts from when it was due. Blocking, confined to one thread, once.
 *
 * @param <R> what a call ends with
 */
final class Storm<R> {
    /** Of what {@link #ended} counts. */
    static final int BUCKET_MILLIS = 100;

    /** Calls under way on a loop unless {@link #window} says otherwise: a batch or more in each stage of a claim's path. */
    private static final int WINDOW = 2_048;

    /** A paced call is made so late at most while the loop is not busy. */
    private static final long TICK_MILLIS = 1;

    private static final long LONGEST_MICROS = 120_000_000;

    private final BenchBed bed;
    private final int count;
    private final StormCall<R> call;
    private final List<Part> parts = new ArrayList<>();
    /** Between calls; 0 in a closed loop. */
    private double nanosEach;

    /** The most calls under way at once on each loop. */
    private int window = WINDOW;

    private long begunNanos;

    /** One kind of call. */
    interface StormCall<R> {
        /** StormCall number n, on its loop. */
        Future<R> on(Services services, int n);

        /** Whether it ended as it should. */
        boolean isRight(R result);
    }

    Storm(BenchBed bed, int count, StormCall<R> call) {
        this.bed = bed;
        this.count = count;
        this.call = call;
    }

    /** The same calls, due at this rate. No more are under way at once than in a closed loop; what waits for that counts in the times. */
    Storm<R> paced(double perSecond) {
        nanosEach = 1e9 / perSecond;
        return this;
    }

    /** The same calls, with at most so many under way at once on each loop. */
    Storm<R> window(int most) {
        window = most;
        return this;
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
            loop.context().runOnContext(now -> {
                fill();
                if (nanosEach > 0) {
                    long timer = loop.context().owner().setPeriodic(TICK_MILLIS, tick -> fill());
                    done.future().onComplete(ended -> loop.context().owner().cancelTimer(timer));
                }
            });
            return done.future();
        }

        /** Of call number n; in a closed loop it is due at once. */
        private long dueNanos(int n) {
            return nanosEach > 0 ? begunNanos + (long) (n * nanosEach) : System.nanoTime();
        }

        private void fill() {
            if (filling) {
                return;
            }
            filling = true;
            while (underWay < window && next < count) {
                int n = next;
                long due = dueNanos(n);
                if (due > System.nanoTime()) {
                    break;
                }
                next += step;
                underWay++;
                call.on(loop.services(), n).onComplete(ended -> {
                    if (ended.succeeded() && call.isRight(ended.result())) {
                        ended(due);
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

        private void ended(long dueNanos) {
            underWay--;
            long now = System.nanoTime();
            timeline.at(now - begunNanos);
            micros.recordValue(Math.min(LONGEST_MICROS, (now - dueNanos) / 1_000));
            if (next >= count && underWay == 0) {
                done.tryComplete();
            } else if (underWay <= window / 2) {
                fill();
            }
        }
    }
}
