package dev.hongbao.fuzz;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One connection on which bytes are sent as they are, and answers read as HTTP/1.1 has them. For one thread; blocking. */
final class Line implements AutoCloseable {
    /** Longer than the server lets anything wait: what is silent for so long hangs. */
    static final int LIMIT_MILLIS = 20_000;

    private final Socket socket;
    private final DataInputStream in;

    Line(int port) throws IOException {
        this(new Socket(), port);
    }

    /** @param socket that is not connected yet */
    Line(Socket socket, int port) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(LIMIT_MILLIS);
        socket.connect(new InetSocketAddress("127.0.0.1", port), LIMIT_MILLIS);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    }

    /** What the server has closed meanwhile takes no more; that is no fault. */
    void send(byte[] bytes) throws IOException {
        try {
            socket.getOutputStream().write(bytes);
        } catch (SocketException closed) {
            // what it answered before can be read
        }
    }

    /** Says that nothing more comes. */
    void endOutput() throws IOException {
        try {
            socket.shutdownOutput();
        } catch (SocketException closed) {
            // so much the better
        }
    }

    /** For what is read from now on. */
    void waitAtMost(int millis) throws IOException {
        socket.setSoTimeout(millis);
    }

    /** What comes after an answer that is the last of HTTP. */
    DataInputStream stream() {
        return in;
    }

    /**
     * The next answer, those that only say to go on left out.
     *
     * @param toHead whether it is one without a body
     * @return null when the server closes instead
     * @throws java.net.SocketTimeoutException when nothing comes
     * @throws IOException when it is no HTTP, or only half an answer
     */
    @Nullable
    Answer read(boolean toHead) throws IOException {
        while (true) {
            String first = line();
            if (first == null) {
                return null;
            }
            if (!first.matches("HTTP/1\\.[01] [1-5][0-9][0-9] .*")) {
                throw new IOException("no HTTP: " + first);
            }
            int status = Integer.parseInt(first, 9, 12, 10);
            Map<String, String> headers = headers();
            boolean hasBody = status >= 200 && status != 204 && status != 304 && !toHead;
            String body = hasBody ? body(headers) : "";
            if (status >= 200 || status == 101) {
                return new Answer(status, headers, body);
            }
        }
    }

    private Map<String, String> headers() throws IOException {
        Map<String, String> headers = new HashMap<>();
        for (String header = wholeLine(); !header.isEmpty(); header = wholeLine()) {
            int colon = header.indexOf(':');
            if (colon < 1) {
                throw new IOException("no header: " + header);
            }
            headers.put(
                    header.substring(0, colon).toLowerCase(Locale.ROOT),
                    header.substring(colon + 1).strip());
        }
        return headers;
    }

    private String body(Map<String, String> headers) throws IOException {
        if ("chunked".equals(headers.get("transfer-encoding"))) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            for (int size = chunkSize(); size > 0; size = chunkSize()) {
                all.write(bytes(size));
                wholeLine();
            }
            wholeLine();
            return all.toString(StandardCharsets.UTF_8);
        }
        String length = headers.get("content-length");
        byte[] body = length == null ? in.readAllBytes() : bytes(Integer.parseInt(length));
        return new String(body, StandardCharsets.UTF_8);
    }

    private int chunkSize() throws IOException {
        return Integer.parseInt(wholeLine(), 16);
    }

    private byte[] bytes(int size) throws IOException {
        byte[] bytes = in.readNBytes(size);
        if (bytes.length < size) {
            throw new EOFException("half an answer");
        }
        return bytes;
    }

    private String wholeLine() throws IOException {
        String line = line();
        if (line == null) {
            throw new EOFException("half an answer");
        }
        return line;
    }

    /** Null at the end. */
    private @Nullable String line() throws IOException {
        StringBuilder line = new StringBuilder();
        try {
            for (int next = in.read(); next != '\n'; next = in.read()) {
                if (next < 0) {
                    return null;
                }
                if (next != '\r') {
                    line.append((char) next);
                }
            }
        } catch (SocketException reset) {
            return null;
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
