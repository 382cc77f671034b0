package dev.hongbao.page;

import dev.hongbao.values.JsonText;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The last ten minutes of the console's plots, and the last faults and recoveries, so that a page opened later still shows them.
 * Samples this server's meters once a second, not the cluster's. Confined to one thread.
 */
final class RecentNumbers {
    /** Ten minutes, about 60 KB. */
    private static final int SAMPLES = 600;

    private static final int EVENTS = 100;
    private static final Latency NOTHING_SETTLED = new Latency(-1, -1);

    /** Counters whose growth is an event: the counter's name, and a tag to select by or null. */
    private enum Watched {
        RECOVERY("hongbao.journal.recoveries", null, null),
        SETTLEMENT_FAILED("hongbao.journal.failures", null, null),
        VOID("hongbao.journal.voids", null, null),
        UNKNOWN_ANSWER("hongbao.claim.outcomes", "outcome", "unknown"),
        SERVER_ERROR("hongbao_http_requests", "status", "5xx");

        private final String meter;
        private final @Nullable String tag;
        private final @Nullable String value;

        Watched(String meter, @Nullable String tag, @Nullable String value) {
            this.meter = meter;
            this.tag = tag;
            this.value = value;
        }

        private String wireName() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** @param claims per second @param settling negative if nothing settled since the previous sample */
    private record Sample(long atMillis, long claims, Latency settling, Levels levels) {}

    private record Latency(double p50Millis, double p99Millis) {}

    /** Gauges. */
    private record Levels(long unsettled, long connections, long sockets, long openPackets) {}

    private record Event(long atMillis, String kind, long count) {}

    private final MeterRegistry meters;
    private final Clock clock;
    private final Deque<Sample> samples = new ArrayDeque<>();
    private final Deque<Event> events = new ArrayDeque<>();
    private final Map<Watched, Double> before = new LinkedHashMap<>();
    private double claimsBefore = Double.NaN;
    private long settledBefore;
    private double[] settledBefores = {};
    private long sampledAtMillis;

    RecentNumbers(MeterRegistry meters, Clock clock) {
        this.meters = meters;
        this.clock = clock;
    }

    /** Takes a sample; call about once a second. */
    void sample() {
        long now = clock.millis();
        double claims = count("hongbao.claim.outcomes", "outcome", "claimed");
        double seconds = Math.max(1, now - sampledAtMillis) / 1000.0;
        long perSecond = Double.isNaN(claimsBefore) ? 0 : Math.round((claims - claimsBefore) / seconds);
        claimsBefore = claims;
        sampledAtMillis = now;
        samples.add(new Sample(
                now,
                Math.max(0, perSecond),
                latency(),
                new Levels(
                        gauge("hongbao.journal.unsettled.entries"),
                        gauge("hongbao_http_connections"),
                        gauge("hongbao.socket.connections"),
                        gauge("hongbao.packet.open"))));
        if (samples.size() > SAMPLES) {
            samples.remove();
        }
        for (Watched watched : Watched.values()) {
            double count = count(watched.meter, watched.tag, watched.value);
            Double last = before.put(watched, count);
            if (last != null && count > last) {
                events.add(new Event(now, watched.wireName(), Math.round(count - last)));
            }
        }
        while (events.size() > EVENTS) {
            events.remove();
        }
    }

    private Latency latency() {
        Timer timer = meters.find("hongbao.claim.settling").timer();
        if (timer == null || timer.count() == settledBefore) {
            return NOTHING_SETTLED;
        }
        long settled = timer.count() - settledBefore;
        settledBefore = timer.count();
        CountAtBucket[] buckets = timer.takeSnapshot().histogramCounts();
        double[] upTo = new double[buckets.length];
        for (int i = 0; i < buckets.length; i++) {
            upTo[i] = buckets[i].count() - (i < settledBefores.length ? settledBefores[i] : 0);
        }
        settledBefores = Stream.of(buckets).mapToDouble(CountAtBucket::count).toArray();
        return new Latency(quantile(0.5 * settled, buckets, upTo), quantile(0.99 * settled, buckets, upTo));
    }

    /**
     * Computes as Prometheus does: times spread evenly within a bucket, and a time beyond the last bucket counts as its bound.
     *
     * @param upTo cumulative counts per bucket
     * @return in milliseconds
     */
    private static double quantile(double rank, CountAtBucket[] buckets, double[] upTo) {
        double low = 0;
        double before = 0;
        for (int i = 0; i < upTo.length; i++) {
            double high = buckets[i].bucket(TimeUnit.MILLISECONDS);
            if (upTo[i] >= rank) {
                return low + (high - low) * (rank - before) / (upTo[i] - before);
            }
            low = high;
            before = upTo[i];
        }
        return low;
    }

    private double count(String name, @Nullable String tag, @Nullable String value) {
        double sum = 0;
        for (Counter counter : meters.find(name).counters()) {
            if (tag == null || String.valueOf(value).equals(counter.getId().getTag(tag))) {
                sum += counter.count();
            }
        }
        return sum;
    }

    private long gauge(String name) {
        double sum = 0;
        for (Gauge gauge : meters.find(name).gauges()) {
            sum += gauge.value();
        }
        return Math.round(sum);
    }

    /**
     * {@code {"samples":[[at, claims, p50, p99, unsettled, connections, sockets, openPackets], …], "events":[…]}}, oldest first;
     * times in milliseconds since 1970, latencies in milliseconds or null.
     *
     * @param afterMillis returns only later entries
     */
    String toJson(long afterMillis) {
        JsonText json = new JsonText(1024).beginObject().name("samples").beginArray();
        for (Sample each : samples) {
            if (each.atMillis > afterMillis) {
                json.beginArray().raw(Long.toString(each.atMillis));
                json.raw(Long.toString(each.claims)).raw(millis(each.settling.p50Millis));
                json.raw(millis(each.settling.p99Millis)).raw(Long.toString(each.levels.unsettled));
                json.raw(Long.toString(each.levels.connections)).raw(Long.toString(each.levels.sockets));
                json.raw(Long.toString(each.levels.openPackets));
                json.endArray();
            }
        }
        json.endArray().name("events").beginArray();
        for (Event each : events) {
            if (each.atMillis > afterMillis) {
                json.beginObject().field("at", each.atMillis).plain("kind", each.kind);
                json.field("count", each.count).endObject();
            }
        }
        return json.endArray().endObject().toString();
    }

    private static String millis(double value) {
        return value < 0 ? "null" : Double.toString(Math.round(value * 100) / 100.0);
    }
}
