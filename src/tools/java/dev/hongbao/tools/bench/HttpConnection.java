package dev.hongbao.tools.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** One HTTP/1.1 connection with one request at a time. It finds the status and the end of an answer. Confined to one thread. */
final class HttpConnection {
    private static final byte[] END = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] LENGTH = "content-length: ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] RETRY = "retry-after: ".getBytes(StandardCharsets.US_ASCII);

    /** More than any answer has here; there are thousands of connections. */
    private static final int MOST = 2_048;

    final int port;
    private final SocketChannel channel;
    private final byte[] answer = new byte[MOST];
    private int have;
    private int bodyAt;

    /** Of the request under way. */
    long dueNanos;

    long sentNanos;

    /** Connects, and registers for reading. */
    HttpConnection(int port, Selector selector) throws IOException {
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
