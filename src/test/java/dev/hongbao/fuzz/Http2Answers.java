package dev.hongbao.fuzz;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a server says on one connection of HTTP/2, and what is wrong with it. For one thread. */
final class Http2Answers {
    private static final long INTERNAL_ERROR = 2;

    /** Netty's own, before there is a request: it has no body. */
    private static final int HEADER_TOO_LARGE = 431;

    private static final long ANY_TABLE_BYTES = 0xffffffffL;

    /** What a header begins with when it says on whom it depends. */
    private static final int PRIORITY_BYTES = 5;

    private final int fence;
    private final DefaultHttp2HeadersDecoder headers = new DefaultHttp2HeadersDecoder(false, Integer.MAX_VALUE);
    private final Map<Integer, Response> responses = new HashMap<>();
    private boolean isFencePassed;
    private boolean isPonged;
    private String end = "";

    /** An answer that is on its way. */
    private static final class Response {
        private int status;
        private final Map<String, String> headers = new HashMap<>();
        private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    }

    /** @param fence the stream of the last request */
    Http2Answers(int fence) {
        this.fence = fence;
        try {
            headers.configuration().maxHeaderTableSize(ANY_TABLE_BYTES);
        } catch (Http2Exception impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Whether the last request, and the last ping, were answered. */
    boolean isOver() {
        return isFencePassed && isPonged;
    }

    /** By which error the connection ends; empty for none yet. */
    String end() {
        return end;
    }

    /** Reads a frame. @return what is wrong; null for nothing */
    @Nullable
    String next(DataInputStream in) throws IOException {
        int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int stream = in.readInt();
        byte[] payload = new byte[length];
        in.readFully(payload);
        switch (type) {
            case Http2Bytes.HEADERS:
                return begun(stream, flags, payload);
            case Http2Bytes.DATA:
                response(stream).body.writeBytes(payload);
                return ended(stream, flags);
            case Http2Bytes.RST_STREAM:
                isFencePassed |= stream == fence;
                return isInternal(payload, 0) ? "stream " + stream + " is reset with INTERNAL_ERROR" : null;
            case Http2Bytes.PING:
                isPonged |= (flags & Http2Bytes.ACK) != 0;
                return null;
            case Http2Bytes.GOAWAY:
                String why = new String(payload, 8, length - 8, StandardCharsets.UTF_8);
                end = "goaway " + payload[7];
                return isInternal(payload, 4) ? "goaway with INTERNAL_ERROR: " + why : Oracle.internals(why);
            default:
                return null;
        }
    }

    private static boolean isInternal(byte[] payload, int at) {
        return payload[at] == 0 && payload[at + 1] == 0 && payload[at + 2] == 0 && payload[at + 3] == INTERNAL_ERROR;
    }

    private Response response(int stream) {
        return responses.computeIfAbsent(stream, first -> new Response());
    }

    private @Nullable String begun(int stream, int flags, byte[] block) {
        if ((flags & Http2Bytes.END_HEADERS) == 0 || (flags & Http2Bytes.PADDED) != 0) {
            return "a header in a form that nobody expects: flags " + flags;
        }
        int from = (flags & Http2Bytes.WITH_PRIORITY) == 0 ? 0 : PRIORITY_BYTES;
        ByteBuf bytes = Unpooled.wrappedBuffer(block, from, block.length - from);
        try {
            Http2Headers read = headers.decodeHeaders(stream, bytes);
            Response response = response(stream);
            response.status = Integer.parseInt(String.valueOf(read.status()));
            read.forEach(field -> response.headers.put(
                    field.getKey().toString(), field.getValue().toString()));
        } catch (Http2Exception | NumberFormatException unreadable) {
            return "a header that nobody can read: " + unreadable.getMessage();
        } finally {
            bytes.release();
        }
        return ended(stream, flags);
    }

    private @Nullable String ended(int stream, int flags) {
        Response response = response(stream);
        isFencePassed |= stream == fence && response.status >= 200;
        if ((flags & Http2Bytes.END_STREAM) == 0) {
            return response.status == 500 ? "500" : null;
        }
        responses.remove(stream);
        boolean isNettys = response.status == HEADER_TOO_LARGE && response.body.size() == 0;
        return isNettys
                ? null
                : Oracle.fault(
                        new Answer(response.status, response.headers, response.body.toString(StandardCharsets.UTF_8)));
    }
}
