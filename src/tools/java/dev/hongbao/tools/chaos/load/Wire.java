package dev.hongbao.tools.chaos.load;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP/1.1 connection with one request at a time, opened when it is needed. It repeats nothing by itself: what became of a request
 * that got no answer is for its caller to find out. Confined to one thread; blocking.
 */
final class Wire implements AutoCloseable {
    private static final int MOST = 1 << 22;

    private final int port;
    private final int timeoutMillis;
    private @Nullable SocketChannel channel;
    private @Nullable InputStream in;

    /** @param timeoutMillis for the connection, and then for each part of an answer */
    Wire(int port, int timeoutMillis) {
        this.port = port;
        this.timeoutMillis = timeoutMillis;
    }

    /** @param retryAfter whether it says when to come again */
    record Response(int status, boolean retryAfter, String body) {}

    /**
     * Sends a request and reads its answer.
     *
     * @param headers a line each, each with its end
     * @throws IOException when there is no whole answer; the connection is closed then
     */
    Response ask(String method, String path, String headers, @Nullable String body) throws IOException {
        byte[] content = body == null ? new byte[0] : body.getBytes(StandardCharsets.UTF_8);
        String head = method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + headers
                + (body == null ? "" : "Content-Type: application/json\r\n")
                + "Content-Length: " + content.length + "\r\n\r\n";
        boolean whole = false;
        try {
            InputStream from = open();
            byte[] start = head.getBytes(StandardCharsets.UTF_8);
            byte[] all = new byte[start.length + content.length];
            System.arraycopy(start, 0, all, 0, start.length);
            System.arraycopy(content, 0, all, start.length, content.length);
            if (channel != null) {
                channel.socket().getOutputStream().write(all);
            }
            Response response = read(from);
            whole = true;
            return response;
        } catch (NumberFormatException | StringIndexOutOfBoundsException garbled) {
            throw new IOException("not HTTP", garbled);
        } finally {
            if (!whole) {
                close();
            }
        }
    }

    /** An open connection; a new one when the server has closed the last one meanwhile. */
    private InputStream open() throws IOException {
        InputStream kept = in;
        if (kept != null && channel != null && isIdle(channel, kept)) {
            return kept;
        }
        close();
        SocketChannel opened = SocketChannel.open();
        channel = opened;
        opened.socket().setTcpNoDelay(true);
        opened.socket().setSoTimeout(timeoutMillis);
        opened.socket().connect(new InetSocketAddress("127.0.0.1", port), timeoutMillis);
        InputStream stream = new BufferedInputStream(opened.socket().getInputStream());
        in = stream;
        return stream;
    }

    /** Without waiting: neither closed nor with an answer to nothing. */
    private static boolean isIdle(SocketChannel kept, InputStream from) {
        try {
            if (from.available() > 0) {
                return false;
            }
            kept.configureBlocking(false);
            boolean isSilent = kept.read(ByteBuffer.allocate(1)) == 0;
            kept.configureBlocking(true);
            return isSilent;
        } catch (IOException broken) {
            return false;
        }
    }

    private Response read(InputStream from) throws IOException {
        String status = line(from);
        int length = 0;
        boolean retryAfter = false;
        boolean last = false;
        for (String header = line(from); !header.isEmpty(); header = line(from)) {
            String lower = header.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Integer.parseInt(lower.substring(15).strip());
            } else if (lower.startsWith("retry-after:")) {
                retryAfter = true;
            } else if (lower.startsWith("connection:")) {
                last = lower.endsWith("close");
            } else if (lower.startsWith("transfer-encoding:")) {
                throw new IOException("an answer without its length");
            }
        }
        if (length > MOST) {
            throw new IOException("an answer of " + length + " bytes");
        }
        byte[] body = from.readNBytes(length);
        if (body.length < length) {
            throw new EOFException("half an answer");
        }
        if (last) {
            close();
        }
        return new Response(
                Integer.parseInt(status.substring(9, 12)), retryAfter, new String(body, StandardCharsets.UTF_8));
    }

    private static String line(InputStream from) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = from.read(); next != '\n'; next = from.read()) {
            if (next < 0) {
                throw new EOFException("closed");
            }
            if (next != '\r') {
                line.append((char) next);
            }
            if (line.length() > MOST) {
                throw new IOException("an endless line");
            }
        }
        return line.toString();
    }

    @Override
    public void close() {
        SocketChannel open = channel;
        channel = null;
        in = null;
        try {
            if (open != null) {
                open.close();
            }
        } catch (IOException gone) {
            // it was closed anyway
        }
    }
}
