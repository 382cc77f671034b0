package dev.hongbao.tools.bench;

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
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
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
    private long server = ProcessCpu.SELF;
    private Duration lead = Duration.ZERO;
    private Duration patience = Duration.ofSeconds(10);

    private final List<Connection> connections = new ArrayList<>();
    private final Deque<Connection> free = new ArrayDeque<>();
    private final ByteBuffer request = ByteBuffer.allocateDirect(REQUEST_BYTES);
    private final ByteBuffer answer = ByteBuffer.allocateDirect(READ_BYTES);
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
        private long refusedInTime;

        /** From the start to the last answer that is done. */
        long lastDoneNanos;

        /** Refusals without {@code Retry-After}. */
        long withoutRetryAfter;

        /** Answers that are neither done nor refused. */
        long others;

        /** Requests whose connection broke. */
        long broken;

        /** Requests without an answer when the patience ended. */
        long unanswered;

        /** Requests that were due but not sent, because no connection was free. */
        long unsent;

        private double seconds;
        private long answers;
        private ProcessCpu.Used cpu = ProcessCpu.Used.NOTHING;

        /** Answers of any status. */
        double answersPerSecond() {
            return answersInTime / seconds;
        }

        double donePerSecond() {
            return doneInTime / seconds;
        }

        /** Requests done. */
        Speed speed() {
            return new Speed(donePerSecond(), cpu.per(answers));
        }

        double refusedPerSecond() {
            return refusedInTime / seconds;
        }

        /** Voids all numbers of the trial if a request that was sent is not done, or none is. */
        Outcome in(Trial trial) {
            trial.loadFault(troubles());
            return this;
        }

        /** For {@link Trial#loadFault}: empty if requests are done, and all that were sent are. */
        String troubles() {
            long refused = refusedSinceSent.getTotalCount();
            if (refused + others + broken + unanswered > 0) {
                return refused + " requests were refused, " + others + " had another status, " + broken
                        + " a broken connection, " + unanswered + " no answer";
            }
            return done.getTotalCount() == 0 ? "no request was answered" : "";
        }
    }

    /** @param ports of servers, which get equal parts of the connections */
    HttpLoad(List<Integer> ports, int connections) {
        this.ports = ports;
        this.count = connections;
    }

    /** Names the process of the server, for its CPU; this one unless set. */
    HttpLoad of(long pid) {
        server = pid;
        return this;
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

    /** Makes the load, once. It ends early when all requests have an answer. */
    Outcome run(Requests requests, Duration length) throws IOException {
        outcome.seconds = length.toNanos() / 1e9;
        try (Selector selector = Selector.open()) {
            for (int i = 0; i < count; i++) {
                connect(ports.get(i % ports.size()), selector);
            }
            greet(selector);
            ProcessCpu.Used before = ProcessCpu.used(server);
            new Loop(selector, requests, length).run();
            outcome.cpu = ProcessCpu.used(server).since(before);
        } finally {
            connections.forEach(Connection::close);
        }
        return outcome;
    }

    private void connect(int port, Selector selector) throws IOException {
        Connection connection = new Connection(port, selector);
        connections.add(connection);
        free.add(connection);
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
                    key -> {
                        try {
                            unanswered[0] -= ((Connection) key.attachment()).read(answer) == 0 ? 0 : 1;
                        } catch (IOException gone) {
                            throw new UncheckedIOException("the server accepts no connections", gone);
                        }
                    },
                    SELECT_MILLIS);
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
            try {
                connection.send(request);
            } catch (IOException broken) {
                replace(connection);
            }
        }

        private void replace(Connection connection) throws IOException {
            outcome.broken++;
            connection.close();
            connections.remove(connection);
            connect(connection.port, selector);
        }

        private void read(SelectionKey key) {
            Connection connection = (Connection) key.attachment();
            try {
                int status;
                try {
                    status = connection.read(answer);
                } catch (IOException gone) {
                    status = -1;
                }
                if (status > 0) {
                    answered(connection, status);
                    requests.answered(connection);
                    free.add(connection);
                } else if (status < 0) {
                    replace(connection);
                }
            } catch (IOException down) {
                throw new UncheckedIOException("the server accepts no connections", down);
            }
        }

        private void answered(Connection connection, int status) {
            long now = System.nanoTime();
            boolean isInTime = now >= from && now < end;
            boolean counts = connection.dueNanos >= from;
            outcome.answers++;
            outcome.answersInTime += isInTime ? 1 : 0;
            if (status >= 200 && status <= 202) {
                outcome.lastDoneNanos = now - begun;
                outcome.doneInTime += isInTime ? 1 : 0;
                if (counts) {
                    outcome.done.recordValue(micros(now - connection.dueNanos));
                }
            } else if (status == 503) {
                outcome.refusedInTime += isInTime ? 1 : 0;
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
        private static final byte[] END = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        private static final byte[] LENGTH = "content-length: ".getBytes(StandardCharsets.US_ASCII);
        private static final byte[] RETRY = "retry-after: ".getBytes(StandardCharsets.US_ASCII);

        /** Most answers fit, and there are thousands of connections. */
        private static final int USUAL = 2_048;

        /** More than any answer has here. */
        private static final int MOST = 65_536;

        final int port;
        private final SocketChannel channel;
        private byte[] answer = new byte[USUAL];
        private int have;
        private int bodyAt;

        /** Of the request under way. */
        long dueNanos;

        long sentNanos;

        /** Connects, and registers for reading. */
        Connection(int port, Selector selector) throws IOException {
            this.port = port;
            this.channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, this);
        }

        /** Sends a whole request. It is smaller than the socket's buffer, which is empty. */
        void send(ByteBuffer request) throws IOException {
            have = 0;
            while (request.hasRemaining()) {
                if (channel.write(request) < 0) {
                    throw new IOException("closed");
                }
            }
        }

        /** @return the status of the complete answer, 0 before it is complete, -1 if the server has closed */
        int read(ByteBuffer buffer) throws IOException {
            buffer.clear();
            int read = channel.read(buffer);
            if (read < 0) {
                return -1;
            }
            buffer.flip();
            if (have + read > MOST) {
                throw new IOException("an answer of more than " + MOST + " bytes");
            }
            if (have + read > answer.length) {
                answer = Arrays.copyOf(answer, MOST);
            }
            buffer.get(answer, have, read);
            have += read;
            int head = indexOf(END, have);
            if (head < 0) {
                return 0;
            }
            bodyAt = head + END.length;
            int length = indexOf(LENGTH, head + 2);
            int body = length < 0 ? 0 : number(length + LENGTH.length);
            return have < bodyAt + body ? 0 : number("HTTP/1.1 ".length());
        }

        /** The body of the last answer. */
        String body() {
            return new String(answer, bodyAt, have - bodyAt, StandardCharsets.UTF_8);
        }

        boolean saysRetryAfter() {
            return indexOf(RETRY, have) >= 0;
        }

        private int number(int at) {
            int value = 0;
            for (int i = at; i < have && answer[i] >= '0' && answer[i] <= '9'; i++) {
                value = value * 10 + answer[i] - '0';
            }
            return value;
        }

        /** Ignores case, as headers do. */
        private int indexOf(byte[] word, int until) {
            for (int i = 0; i <= until - word.length; i++) {
                int k = 0;
                while (k < word.length && lower(answer[i + k]) == word[k]) {
                    k++;
                }
                if (k == word.length) {
                    return i;
                }
            }
            return -1;
        }

        private static byte lower(byte letter) {
            return letter >= 'A' && letter <= 'Z' ? (byte) (letter + 32) : letter;
        }

        void close() {
            try {
                channel.close();
            } catch (IOException gone) {
                // already closed
            }
        }
    }
}
