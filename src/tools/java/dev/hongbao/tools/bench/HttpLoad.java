package dev.hongbao.tools.bench;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * A load over HTTP, by one thread, which blocks.
 *
 * <p>Closed loop: each connection sends its next request when it has an answer. {@linkplain #perSecond Open loop}: requests are
 * due at a constant rate whatever the server does, and a latency begins when its request is due. So a server that stalls does not
 * look better for it (no coordinated omission). The load is up to a millisecond late; the latencies include that.
 */
final class HttpLoad {
    private static final long LONGEST_MICROS = 60_000_000;
    private static final long SELECT_MILLIS = 1;
    private static final int REQUEST_BYTES = 16_384;
    private static final int READ_BYTES = 16_384;

    /** Makes the server accept a connection. The path does not exist. */
    private static final byte[] GREETING =
            "GET /none HTTP/1.1\r\nHost: hongbao\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private static final long GREETED_NANOS = 20_000_000_000L;

    private final List<Integer> ports;
    private final int count;
    private double perSecond;
    private Duration lead = Duration.ZERO;
    private Duration patience = Duration.ofSeconds(10);

    private final List<Connection> connections = new ArrayList<>();
    private final Deque<Connection> free = new ArrayDeque<>();
    private final ByteBuffer request = ByteBuffer.allocateDirect(REQUEST_BYTES);
    private final ByteBuffer answer = ByteBuffer.allocate(READ_BYTES);
    private final Outcome outcome = new Outcome();

    /** Requests, as bytes on the wire. */
    interface Requests {
        /** The number of different requests. */
        default long count() {
            return Long.MAX_VALUE;
        }

        /** Appends request number n. */
        void write(long n, ByteBuffer to);

        /** Receives each complete answer. */
        default void answered(Connection connection) {}
    }

    /**
     * The answers. A request is done with status 200, 201 or 202, and refused with 503. Latencies are microseconds. Counts and
     * latencies are without the lead.
     */
    static final class Outcome {
        /** Latencies since a request was due. */
        final Histogram done = new Histogram(LONGEST_MICROS, 3);

        /** Latencies of refusals since they were sent, without the load's own delay. */
        final Histogram refusedSinceSent = new Histogram(LONGEST_MICROS, 3);

        /** Answers of any status, and their parts, that came before the end of the length. */
        private long answersInTime;

        private long doneInTime;

        /** From the start to the last answer that is done. */
        long lastDoneNanos;

        /** Refusals without {@code Retry-After}. */
        long withoutRetryAfter;

        /** Answers that are neither done nor refused. */
        long others;

        /** Requests without an answer when the patience ended. */
        long unanswered;

        /** Requests that were due but not sent, because no connection was free. */
        long unsent;

        private double seconds;

        /** Answers of any status. */
        double answersPerSecond() {
            return answersInTime / seconds;
        }

        double donePerSecond() {
            return doneInTime / seconds;
        }

        /** Voids all numbers of the trial if a request that was sent is not done, or none is. */
        Outcome in(Trial trial) {
            trial.loadFault(troubles());
            return this;
        }

        /** For {@link Trial#loadFault}: empty if requests are done, and all that were sent are. */
        String troubles() {
            long refused = refusedSinceSent.getTotalCount();
            if (refused + others + unanswered > 0) {
                return refused + " requests were refused, " + others + " had another status, " + unanswered
                        + " no answer";
            }
            return done.getTotalCount() == 0 ? "no request was answered" : "";
        }
    }

    /** @param ports of servers, which get equal parts of the connections */
    HttpLoad(List<Integer> ports, int connections) {
        this.ports = ports;
        this.count = connections;
    }

    /** Makes this an open loop. */
    HttpLoad perSecond(double rate) {
        perSecond = rate;
        return this;
    }

    /** Adds a time before the length whose requests do not count. */
    HttpLoad lead(Duration time) {
        lead = time;
        return this;
    }

    /** Waits so long after the end for answers; 10 s unless set. */
    HttpLoad patience(Duration time) {
        patience = time;
        return this;
    }

    /** Makes the load, once. It ends early when all requests have an answer, and fails if a connection breaks. */
    Outcome run(Requests requests, Duration length) throws IOException {
        outcome.seconds = length.toNanos() / 1e9;
        try (Selector selector = Selector.open()) {
            for (int i = 0; i < count; i++) {
                connections.add(new Connection(ports.get(i % ports.size()), selector));
            }
            free.addAll(connections);
            greet(selector);
            new Loop(selector, requests, length).run();
        } finally {
            for (Connection each : connections) {
                each.channel.close();
            }
        }
        return outcome;
    }

    /** Sends a request on each connection, so that the load does not begin before the server has accepted all. */
    private void greet(Selector selector) throws IOException {
        long late = System.nanoTime() + GREETED_NANOS;
        int[] unanswered = {connections.size()};
        for (Connection connection : connections) {
            connection.send(ByteBuffer.wrap(GREETING));
        }
        while (unanswered[0] > 0 && System.nanoTime() < late) {
            selector.select(
                    key -> unanswered[0] -= ((Connection) key.attachment()).read(answer) == 0 ? 0 : 1, SELECT_MILLIS);
        }
    }

    private final class Loop {
        private final Selector selector;
        private final Requests requests;
        private final long most;
        private final long begun = System.nanoTime();
        private final long from = begun + lead.toNanos();
        private final long end;
        private long sent;

        Loop(Selector selector, Requests requests, Duration length) {
            this.selector = selector;
            this.requests = requests;
            this.end = from + length.toNanos();
            this.most = perSecond == 0
                    ? requests.count()
                    : Math.min(requests.count(), (long) (perSecond * (end - begun) / 1e9));
        }

        private long dueNanos() {
            return perSecond == 0 ? System.nanoTime() : begun + (long) (sent * 1e9 / perSecond);
        }

        void run() throws IOException {
            while (true) {
                long now = System.nanoTime();
                while (sent < most && now < end && !free.isEmpty() && (perSecond == 0 || dueNanos() <= now)) {
                    send(dueNanos());
                }
                boolean isOver = (sent == most || now > end) && free.size() == connections.size();
                if (isOver || now > end + patience.toNanos()) {
                    break;
                }
                selector.select(this::read, SELECT_MILLIS);
            }
            if (perSecond == 0 && sent == requests.count()) {
                throw new IllegalStateException("the closed loop needs more than " + sent + " requests");
            }
            outcome.unsent = perSecond == 0 ? 0 : most - sent;
            outcome.unanswered = connections.size() - free.size();
        }

        private void send(long dueNanos) throws IOException {
            Connection connection = free.remove();
            connection.dueNanos = dueNanos;
            connection.sentNanos = System.nanoTime();
            request.clear();
            requests.write(sent++, request);
            request.flip();
            connection.send(request);
        }

        private void read(SelectionKey key) {
            Connection connection = (Connection) key.attachment();
            int status = connection.read(answer);
            if (status > 0) {
                answered(connection, status);
                requests.answered(connection);
                free.add(connection);
            }
        }

        private void answered(Connection connection, int status) {
            long now = System.nanoTime();
            boolean isInTime = now >= from && now < end;
            boolean counts = connection.dueNanos >= from;
            outcome.answersInTime += isInTime ? 1 : 0;
            if (status >= 200 && status <= 202) {
                outcome.lastDoneNanos = now - begun;
                outcome.doneInTime += isInTime ? 1 : 0;
                if (counts) {
                    outcome.done.recordValue(micros(now - connection.dueNanos));
                }
            } else if (status == 503) {
                if (counts) {
                    outcome.refusedSinceSent.recordValue(micros(now - connection.sentNanos));
                    outcome.withoutRetryAfter += connection.saysRetryAfter() ? 0 : 1;
                }
            } else {
                outcome.others++;
            }
        }

        private static long micros(long nanos) {
            return Math.min(LONGEST_MICROS, Math.max(0, nanos / 1_000));
        }
    }

    /** One HTTP/1.1 connection with one request at a time. It finds the status and the end of an answer. Confined to one thread. */
    static final class Connection {
        private static final String END = "\r\n\r\n";

        /** As Vert.x writes it. */
        private static final String LENGTH = "content-length: ";

        private final SocketChannel channel;
        private final StringBuilder answer = new StringBuilder();
        private int bodyAt;

        /** Of the request under way. */
        private long dueNanos;

        private long sentNanos;

        /** Connects, and registers for reading. */
        private Connection(int port, Selector selector) throws IOException {
            channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, this);
        }

        /** Sends a whole request. It is smaller than the socket's buffer, which is empty. */
        private void send(ByteBuffer request) throws IOException {
            answer.setLength(0);
            while (request.hasRemaining()) {
                channel.write(request);
            }
        }

        /**
         * @return the status of the complete answer, 0 before it is complete
         * @throws UncheckedIOException if the server has closed
         */
        private int read(ByteBuffer buffer) {
            try {
                int read = channel.read(buffer.clear());
                if (read < 0) {
                    throw new EOFException("the server closed a connection");
                }
                answer.append(new String(buffer.array(), 0, read, StandardCharsets.ISO_8859_1));
            } catch (IOException gone) {
                throw new UncheckedIOException(gone);
            }
            int head = answer.indexOf(END);
            if (head < 0) {
                return 0;
            }
            bodyAt = head + END.length();
            int length = answer.indexOf(LENGTH) + LENGTH.length();
            int body = length < LENGTH.length() || length > head
                    ? 0
                    : Integer.parseInt(answer, length, answer.indexOf("\r", length), 10);
            int status = "HTTP/1.1 ".length();
            return answer.length() < bodyAt + body ? 0 : Integer.parseInt(answer, status, status + 3, 10);
        }

        /** The body of the last answer, a char for each byte. */
        String body() {
            return answer.substring(bodyAt);
        }

        private boolean saysRetryAfter() {
            return answer.toString().toLowerCase(Locale.ROOT).contains("retry-after: ");
        }
    }
}
