package dev.hongbao.http;

import dev.hongbao.http.Contract.Frames;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** Frames of HTTP/2 as bytes (RFC 9113), as no library would send them. */
final class RawHttp2 implements AutoCloseable {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;

    /** What a stream, and the connection, may be sent until its client says that it has read. */
    static final int WINDOW = 65_535;

    static final int PROTOCOL_ERROR = 1;
    static final int CANCEL = 8;
    static final int ENHANCE_YOUR_CALM = 11;

    private static final int GOAWAY = 7;

    private static final byte[] AUTHORITY = "127.0.0.1".getBytes(StandardCharsets.US_ASCII);

    private final SSLSocket socket;
    private final DataInputStream in;
    private OutputStream out;

    /** The streams that the server has reset, in their order. */
    final List<Integer> resets = new ArrayList<>();

    /** As it arrived. */
    record Frame(int type, int flags, int stream, byte[] payload) {}

    RawHttp2(SSLContext context, int port) throws IOException {
        this(context, port, "");
        together(this::begin);
    }

    /** What comes first on a connection. */
    void begin() throws IOException {
        out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        frame(SETTINGS, 0, 0);
    }

    /** @param preface what is sent first, which may be none */
    RawHttp2(SSLContext context, int port, String preface) throws IOException {
        Socket plain = new Socket();
        plain.setReceiveBufferSize(16 * 1024); // so that a reader who reads nothing is noticed soon
        plain.connect(new InetSocketAddress("127.0.0.1", port));
        socket = (SSLSocket) context.getSocketFactory().createSocket(plain, "127.0.0.1", port, true);
        socket.setSoTimeout(10_000);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {"h2"});
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        in = new DataInputStream(socket.getInputStream());
        out = socket.getOutputStream();
        out.write(preface.getBytes(StandardCharsets.US_ASCII));
    }

    /** {@code GET /} in static entries of HPACK (RFC 7541), and the authority as it is. */
    static byte[] getRoot() {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.write(0x82); // GET
        block.write(0x87); // https
        block.write(0x84); // the root
        block.write(0x01); // :authority, a literal
        literal(block, AUTHORITY);
        return block.toByteArray();
    }

    /** Asks for a path with a token. */
    void get(int stream, String path, String token) throws IOException {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.write(0x82);
        block.write(0x87);
        block.write(0x04); // :path, a literal
        literal(block, path.getBytes(StandardCharsets.US_ASCII));
        block.write(0x01);
        literal(block, AUTHORITY);
        block.write(0x0f); // authorization, which is entry 15 + 8
        block.write(8);
        literal(block, ("Bearer " + token).getBytes(StandardCharsets.US_ASCII));
        frame(HEADERS, END_HEADERS | END_STREAM, stream, block.toByteArray());
    }

    /** A field of a header with its name as it is. */
    static void field(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        literal(block, name.getBytes(StandardCharsets.US_ASCII));
        literal(block, value.getBytes(StandardCharsets.US_ASCII));
    }

    private static void literal(ByteArrayOutputStream block, byte[] value) {
        int rest = value.length - 127;
        block.write(Math.min(value.length, 127));
        for (; rest >= 128; rest /= 128) {
            block.write(rest % 128 + 128);
        }
        if (value.length >= 127) {
            block.write(rest);
        }
        block.write(value, 0, value.length);
    }

    interface Frames {
        void send() throws IOException;
    }

    /** Sends several in one write, so that the server reads them in one. */
    void together(Frames frames) throws IOException {
        OutputStream wire = out;
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        out = all;
        frames.send();
        out = wire;
        out.write(all.toByteArray());
    }

    void frame(int type, int flags, int stream, byte... payload) throws IOException {
        byte[] frame = new byte[9 + payload.length];
        frame[0] = (byte) (payload.length >> 16);
        frame[1] = (byte) (payload.length >> 8);
        frame[2] = (byte) payload.length;
        frame[3] = (byte) type;
        frame[4] = (byte) flags;
        frame[5] = (byte) (stream >> 24);
        frame[6] = (byte) (stream >> 16);
        frame[7] = (byte) (stream >> 8);
        frame[8] = (byte) stream;
        System.arraycopy(payload, 0, frame, 9, payload.length);
        out.write(frame);
    }

    /** The next one. @throws EOFException at the end of the connection */
    Frame next() throws IOException {
        int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int stream = in.readInt();
        byte[] payload = in.readNBytes(length);
        return new Frame(type, flags, stream, payload);
    }

    /** Reads to the end of the connection, and tells by which error it ended; -1 for none. */
    int endedBy() throws IOException {
        int code = -1;
        try {
            while (true) {
                Frame frame = next();
                if (frame.type == RST_STREAM) {
                    resets.add(frame.stream);
                }
                if (frame.type == GOAWAY) {
                    code = frame.payload[7];
                }
            }
        } catch (EOFException over) {
            return code;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
