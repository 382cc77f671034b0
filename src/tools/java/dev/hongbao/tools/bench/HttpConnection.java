package dev.hongbao.tools.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** One HTTP/1.1 connection with one request at a time, reading no more of an answer than its status and its end. Confined to one thread. */
final class HttpConnection {
    private static final byte[] END = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] LENGTH = "content-length: ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] RETRY = "retry-after: ".getBytes(StandardCharsets.US_ASCII);

    /** More than any answer to a claim; there are thousands of connections. */
    private static final int MOST = 2_048;

    final int port;
    private final SocketChannel channel;
    private final byte[] answer = new byte[MOST];
    private int have;

    /** When the request under way was due, and when it was sent; see {@link OpenLoop}. */
    long dueNanos;

    long sentNanos;

    /** Connects, and is selected for reading. */
    HttpConnection(int port, Selector selector) throws IOException {
        this.port = port;
        this.channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_READ, this);
    }

    /** Sends a whole request; it is smaller than the socket's buffer, which is empty. */
    void send(ByteBuffer request) throws IOException {
        have = 0;
        while (request.hasRemaining()) {
            if (channel.write(request) < 0) {
                throw new IOException("closed");
            }
        }
    }

    /**
     * Reads what has come.
     *
     * @param buffer to read through
     * @return the answer's status, 0 while it is not complete, -1 when the server has closed
     */
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
        buffer.get(answer, have, read);
        have += read;
        int head = indexOf(END, 0, have);
        if (head < 0) {
            return 0;
        }
        int length = indexOf(LENGTH, 0, head + 2);
        int body = length < 0 ? 0 : number(length + LENGTH.length);
        if (have < head + END.length + body) {
            return 0;
        }
        return number(9);
    }

    /** Whether the last answer says when to come again. */
    boolean saysRetryAfter() {
        return indexOf(RETRY, 0, have) >= 0;
    }

    private int number(int at) {
        int value = 0;
        for (int i = at; i < have && answer[i] >= '0' && answer[i] <= '9'; i++) {
            value = value * 10 + answer[i] - '0';
        }
        return value;
    }

    /** Without regard to case, as headers are. */
    private int indexOf(byte[] word, int from, int until) {
        for (int i = from; i <= until - word.length; i++) {
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
            // It was closed anyway.
        }
    }
}
