package dev.hongbao.web.http;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
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
    static final int CONTINUATION = 9;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;
    static final int PROTOCOL_ERROR = 1;
    static final int ENHANCE_YOUR_CALM = 11;

    private static final int GOAWAY = 7;

    private final SSLSocket socket;
    private final OutputStream out;

    /** The streams that the server has reset, in their order. */
    final List<Integer> resets = new ArrayList<>();

    RawHttp2(SSLContext context, int port) throws IOException {
        this(context, port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        frame(SETTINGS, 0, 0);
    }

    /** @param preface what is sent first, which may be none */
    RawHttp2(SSLContext context, int port, String preface) throws IOException {
        socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port);
        socket.setSoTimeout(10_000);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {"h2"});
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        out = socket.getOutputStream();
        out.write(preface.getBytes(StandardCharsets.US_ASCII));
    }

    /** {@code GET /} in static entries of HPACK, and the authority as it is. */
    static byte[] getRoot() {
        byte[] authority = "127.0.0.1".getBytes(StandardCharsets.US_ASCII);
        byte[] block = new byte[5 + authority.length];
        block[0] = (byte) 0x82; // GET
        block[1] = (byte) 0x87; // https
        block[2] = (byte) 0x84; // the root
        block[3] = 0x01; // :authority, a literal
        block[4] = (byte) authority.length;
        System.arraycopy(authority, 0, block, 5, authority.length);
        return block;
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

    /** Reads to the end of the connection, and tells by which error it ended; -1 for none. */
    int endedBy() throws IOException {
        int code = -1;
        try {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            while (true) {
                int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
                int type = in.readUnsignedByte();
                in.skipNBytes(1);
                int stream = in.readInt();
                byte[] payload = in.readNBytes(length);
                if (type == RST_STREAM) {
                    resets.add(stream);
                }
                if (type == GOAWAY) {
                    code = payload[7];
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
