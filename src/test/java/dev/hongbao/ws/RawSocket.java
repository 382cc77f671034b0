package dev.hongbao.ws;

import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A client that writes bytes as it likes, and reads only when told to. */
final class RawSocket implements AutoCloseable {
    static final int TEXT = 1;

    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;

    private RawSocket(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new DataInputStream(socket.getInputStream());
        this.out = socket.getOutputStream();
    }

    /** Asks for an upgrade. @return the status line */
    static String upgrade(URI base, String target, String... headers) {
        try (RawSocket raw = connect(base)) {
            return raw.handshake(target, headers);
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    /** The whole answer to a request, which ends as a JSON object does: the server may keep the connection. */
    static String answer(URI base, String request) {
        try (RawSocket raw = connect(base)) {
            raw.send(request.getBytes(StandardCharsets.US_ASCII));
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            for (int next = raw.in.read(); next >= 0; next = next == '}' ? -1 : raw.in.read()) {
                all.write(next);
            }
            return all.toString(StandardCharsets.UTF_8);
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    /** An open WebSocket without a token. */
    static RawSocket open(URI base, String... headers) {
        try {
            RawSocket raw = connect(base);
            List<String> all = new ArrayList<>(List.of(headers));
            all.add("Sec-WebSocket-Protocol: hongbao.v1");
            String status = raw.handshake("/v1/socket", all.toArray(String[]::new));
            if (!status.contains(" 101 ")) {
                throw new AssertionError(status);
            }
            return raw;
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    private static RawSocket connect(URI base) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4 * 1024); // so that a reader who reads nothing is noticed soon
        socket.connect(new java.net.InetSocketAddress(base.getHost(), base.getPort()));
        socket.setSoTimeout(10_000);
        return new RawSocket(socket);
    }

    private String handshake(String target, String... headers) throws IOException {
        StringBuilder request = new StringBuilder(
                "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                        + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
        for (String header : headers) {
            request.append(header).append("\r\n");
        }
        send((request + "\r\n").getBytes(StandardCharsets.US_ASCII));
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.US_ASCII).endsWith("\r\n\r\n")) {
            head.write(in.readUnsignedByte());
        }
        return head.toString(StandardCharsets.US_ASCII).lines().findFirst().orElse("");
    }

    /** Bytes as they are. */
    void send(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    void sendText(String text) throws IOException {
        send(frame(TEXT, text.getBytes(StandardCharsets.UTF_8)));
    }

    void authenticate(String token) throws IOException {
        sendText(new JsonObject()
                .put("type", "auth")
                .put("id", "1")
                .put("token", token)
                .encode());
    }

    /** Cuts the line with a reset: what was sent to it and not read is refused. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    /** A masked frame, as a client sends it. */
    static byte[] frame(int opcode, byte[] payload) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.write(0x80 | opcode);
        if (payload.length < 126) {
            frame.write(0x80 | payload.length);
        } else if (payload.length < 65_536) {
            frame.write(0x80 | 126);
            frame.write(payload.length >> 8);
            frame.write(payload.length);
        } else {
            frame.write(0x80 | 127);
            for (int shift = 56; shift >= 0; shift -= 8) {
                frame.write((int) ((long) payload.length >> shift));
            }
        }
        frame.writeBytes(new byte[4]); // a mask of zeroes changes nothing
        frame.writeBytes(payload);
        return frame.toByteArray();
    }

    /** The next text frame. @throws EOFException at the end */
    JsonObject read() throws IOException {
        byte[] payload = readFrame(TEXT);
        return new JsonObject(new String(payload, StandardCharsets.UTF_8));
    }

    /** Reads on until the connection is closed. @return the close code, 1006 without one */
    int readCloseCode() {
        try {
            byte[] payload = readFrame(8);
            return payload.length < 2 ? 1005 : (payload[0] & 0xff) << 8 | payload[1] & 0xff;
        } catch (EOFException | SocketException cut) {
            return 1006;
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    private byte[] readFrame(int wanted) throws IOException {
        while (true) {
            int opcode = in.readUnsignedByte() & 0xf;
            long length = in.readUnsignedByte();
            length = length == 126 ? in.readUnsignedShort() : length == 127 ? in.readLong() : length;
            byte[] payload = new byte[(int) length];
            in.readFully(payload);
            if (opcode == wanted) {
                return payload;
            }
            if (opcode == 8) {
                throw new EOFException("closed");
            }
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }
}
