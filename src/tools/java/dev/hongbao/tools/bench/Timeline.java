package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.Exhibits.Point;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** How often something happened, over time. One thread at a time; counting allocates nothing until it lasts ten minutes. */
final class Timeline {
    private static final int BUCKETS = 6_000;

    private final long bucketNanos;
    private long[] counts = new long[BUCKETS];
    private int used;

    Timeline(int bucketMillis) {
        this.bucketNanos = bucketMillis * 1_000_000L;
    }

    /** It happened so long after the begin. */
    void at(long nanos) {
        int bucket = (int) Math.max(0, nanos / bucketNanos);
        if (bucket >= counts.length) {
            counts = Arrays.copyOf(counts, bucket * 2);
        }
        counts[bucket]++;
        used = Math.max(used, bucket + 1);
    }

    /** Adds what another one counted, with buckets as long. */
    void add(Timeline other) {
        for (int i = 0; i < other.used; i++) {
            if (other.counts[i] > 0) {
                if (i >= counts.length) {
                    counts = Arrays.copyOf(counts, i * 2);
                }
                counts[i] += other.counts[i];
                used = Math.max(used, i + 1);
            }
        }
    }

    /** Seconds since the begin and how often a second; without the last bucket, which is not full. */
    List<Point> perSecond() {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < used - 1; i++) {
            points.add(new Point((i + 0.5) * bucketNanos / 1e9, counts[i] * 1e9 / bucketNanos));
        }
        return points;
    }

    /** How often between two moments since the begin. */
    long count(long fromNanos, long untilNanos) {
        long sum = 0;
        for (int i = 0; i < used; i++) {
            long middle = i * bucketNanos + bucketNanos / 2;
            if (middle >= fromNanos && middle < untilNanos) {
                sum += counts[i];
            }
        }
        return sum;
    }
}
