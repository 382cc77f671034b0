package dev.hongbao.tools.bench.model;

import java.util.PriorityQueue;

/** Events in the order of their time, in microseconds. Confined to one thread. */
final class Simulation {
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private double now;
    private long scheduled;

    private record Event(double at, long number, Runnable what) implements Comparable<Event> {
        /** Of the same moment, in the order in which they were scheduled. */
        @Override
        public int compareTo(Event other) {
            int byTime = Double.compare(at, other.at);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    double now() {
        return now;
    }

    void after(double micros, Runnable what) {
        events.add(new Event(now + micros, scheduled++, what));
    }

    /** Runs whatever happens before then. */
    void run(double untilMicros) {
        for (Event next = events.peek(); next != null && next.at <= untilMicros; next = events.peek()) {
            events.remove();
            now = next.at;
            next.what.run();
        }
    }
}
