package dev.hongbao.tools.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * An open-loop load over HTTP: requests are due at a constant rate, whatever the server does, and each one's time counts from
 * when it was due, so that a server that stalls is not asked less and looks no better for it (no coordinated omission). It waits
 * at most a millisecond too long for the next one that is due, and that is part of the times. One thread, which blocks.
 */
final class OpenLoop {
    private static final long LONGEST_MICROS = 60_000_000;
    private static final long SELECT_MILLIS = 1;
    private static final int REQUEST_BYTES = 8_192;
    private static final int READ_BYTES = 16_384;

    /** What makes the server take a connection. Nothing is there. */
    private static final byte[] GREETING =
            "GET /none HTTP/1.1\r\nHost: hongbao\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private static final long GREETED_NANOS = 20_000_000_000L;

    /** Of the timelines. */
    static final int BUCKET_MILLIS = 250;

    private final Load load;
    private final Requests requests;
    private final long first;
    private final long count;
    private final List<HttpConnection> connections = new ArrayList<>();
    private final Deque<HttpConnection> free = new ArrayDeque<>();
    private final ByteBuffer request = ByteBuffer.allocateDirect(REQUEST_BYTES);
    private final ByteBuffer answer = ByteBuffer.allocateDirect(READ_BYTES);
    private final Outcome outcome;
    private long sent;

    /**
     * How much.
     *
     * @param ports of the servers, over which the connections and so the requests are spread evenly
     * @param warmUp at the begin, whose times do not count
     * @param length after it
     * @param patience at the end, for answers that are under way
     */
    record Load(
            List<Integer> ports,
            int connections,
            double perSecond,
            Duration warmUp,
            Duration length,
            Duration patience) {
        long requests() {
            return (long) (perSecond * warmUp.plus(length).toNanos() / 1e9);
        }
    }

    /** What is asked for, as bytes on the wire. */
    interface Requests {
        /** How many differ. */
        long count();

        /** Appends request number n. */
        void write(long n, ByteBuffer to);
    }

    /** What was seen. The times are microseconds since a request was due; they and the counts are without the warm-up. */
    static final class Outcome {
        final Histogram claimed = new Histogram(LONGEST_MICROS, 3);
        final Histogram refused = new Histogram(LONGEST_MICROS, 3);
        /** The refusals' times since they were sent: without what the load itself was late. */
        final Histogram refusedOnceSent = new Histogram(LONGEST_MICROS, 3);
        /** The same of the claims. */
        final Histogram claimedOnceSent = new Histogram(LONGEST_MICROS, 3);

        final Timeline claims = new Timeline(BUCKET_MILLIS);
        final Timeline refusals = new Timeline(BUCKET_MILLIS);
        final Timeline due = new Timeline(BUCKET_MILLIS);
        /** Of {@link System#nanoTime}, the begin of the timelines. */
        long begunNanos;
        /** When the last claim was answered, after the begin. */
        long lastClaimNanos;
        /** Refusals that do not say when to come again. */
        long withoutRetryAfter;
        /** Answers that are neither a claim nor 503. */
        long others;
        /** Requests whose connection broke. */
        long broken;
        /** Requests that had no answer in the end. */
        long unanswered;
        /** Requests that were due and never sent, since no connection was free. */
        long unsent;

        /** What became of the requests that were sent and are not settled claims; empty when all are. */
        String troubles() {
            long refusals = refused.getTotalCount();
            return refusals + others + broken + unanswered == 0
                    ? ""
                    : refusals + " claims were refused, " + others + " had other answers, " + broken
                            + " a broken connection, " + unanswered + " none";
        }
    }

    private OpenLoop(Load load, Requests requests, long first, long count) {
        this.count = count;
        this.load = load;
        this.requests = requests;
        this.first = first;
        this.outcome = new Outcome();
    }

    /**
     * Makes the load.
     *
     * @param first the number of the first request; so many others have been made before
     */
    static Outcome run(Load load, Requests requests, long first) throws IOException {
        if (first + load.requests() > requests.count()) {
            throw new IllegalArgumentException("there are only " + requests.count() + " requests to make");
        }
        return run(new OpenLoop(load, requests, first, load.requests()), () -> {});
    }

    /**
     * Makes each of the requests once, at the load's rate or as soon after it as a connection is free, and stops when all are answered.
     *
     * @param begins is run when all is ready, before the first
     */
    static Outcome once(Load load, Requests requests, Runnable begins) throws IOException {
        return run(new OpenLoop(load, requests, 0, requests.count()), begins);
    }

    private static Outcome run(OpenLoop loop, Runnable begins) throws IOException {
        Load load = loop.load;
        try (Selector selector = Selector.open()) {
            for (int i = 0; i < load.connections; i++) {
                loop.connect(load.ports.get(i % load.ports.size()), selector);
            }
            loop.greet(selector);
            begins.run();
            loop.run(selector);
        } finally {
            loop.connections.forEach(HttpConnection::close);
        }
        return loop.outcome;
    }

    private void connect(int port, Selector selector) throws IOException {
        HttpConnection connection = new HttpConnection(port, selector);
        connections.add(connection);
        free.add(connection);
    }

    /** One request on each connection, so that the load does not begin while the server is still taking them. */
    private void greet(Selector selector) throws IOException {
        long late = System.nanoTime() + GREETED_NANOS;
        int[] unanswered = {connections.size()};
        for (HttpConnection connection : connections) {
            connection.send(ByteBuffer.wrap(GREETING));
        }
        while (unanswered[0] > 0 && System.nanoTime() < late) {
            selector.select(
                    key -> {
                        try {
                            unanswered[0] -= ((HttpConnection) key.attachment()).read(answer) == 0 ? 0 : 1;
                        } catch (IOException gone) {
                            throw new UncheckedIOException("the server takes no connections", gone);
                        }
                    },
                    SELECT_MILLIS);
        }
    }

    private void run(Selector selector) throws IOException {
        long begun = System.nanoTime();
        outcome.begunNanos = begun;
        double nanosEach = 1e9 / load.perSecond;
        long last = begun + load.warmUp.plus(load.length).toNanos();
        while (true) {
            long now = System.nanoTime();
            while (sent < count && now < last && !free.isEmpty() && begun + (long) (sent * nanosEach) <= now) {
                send(selector, begun, begun + (long) (sent * nanosEach));
            }
            boolean done = (sent == count || now > last) && free.size() == connections.size();
            if (done || now > last + load.patience.toNanos()) {
                break;
            }
            selector.select(key -> read(key, begun), SELECT_MILLIS);
        }
        outcome.unsent = count - sent;
        outcome.unanswered = connections.size() - free.size();
    }

    private void send(Selector selector, long begun, long dueNanos) throws IOException {
        HttpConnection connection = free.remove();
        connection.dueNanos = dueNanos;
        connection.sentNanos = System.nanoTime();
        request.clear();
        requests.write(first + sent++, request);
        request.flip();
        outcome.due.at(dueNanos - begun);
        try {
            connection.send(request);
        } catch (IOException broken) {
            replace(selector, connection);
        }
    }

    private void replace(Selector selector, HttpConnection connection) throws IOException {
        outcome.broken++;
        connection.close();
        connections.remove(connection);
        connect(connection.port, selector);
    }

    private void read(SelectionKey key, long begun) {
        HttpConnection connection = (HttpConnection) key.attachment();
        try {
            int status = connection.read(answer);
            if (status > 0) {
                answered(connection, status, begun);
                free.add(connection);
            } else if (status < 0) {
                replace(key.selector(), connection);
            }
        } catch (IOException gone) {
            try {
                replace(key.selector(), connection);
            } catch (IOException down) {
                throw new UncheckedIOException("the server takes no connections", down);
            }
        }
    }

    private void answered(HttpConnection connection, int status, long begun) {
        long now = System.nanoTime();
        boolean counts = connection.dueNanos - begun >= load.warmUp.toNanos();
        long micros = Math.min(LONGEST_MICROS, Math.max(0, now - connection.dueNanos) / 1_000);
        long sinceSent = Math.min(LONGEST_MICROS, Math.max(0, now - connection.sentNanos) / 1_000);
        if (status == 200 || status == 201) {
            outcome.claims.at(now - begun);
            outcome.lastClaimNanos = now - begun;
            if (counts) {
                outcome.claimed.recordValue(micros);
                outcome.claimedOnceSent.recordValue(sinceSent);
            }
        } else if (status == 503) {
            outcome.refusals.at(now - begun);
            if (counts) {
                outcome.refused.recordValue(micros);
                outcome.refusedOnceSent.recordValue(sinceSent);
                outcome.withoutRetryAfter += connection.saysRetryAfter() ? 0 : 1;
            }
        } else {
            outcome.others++;
        }
    }
}
