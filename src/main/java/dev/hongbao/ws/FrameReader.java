package dev.hongbao.ws;

import dev.hongbao.http.HttpSettings;
import dev.hongbao.http.Problem;
import dev.hongbao.http.Problem.FaultLog;
import dev.hongbao.http.ProblemType;
import dev.hongbao.values.Caller;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Reason;
import dev.hongbao.values.StrictJson;
import dev.hongbao.values.Text;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.websocketx.CorruptedWebSocketFrameException;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.WebSocketFrame;
import io.vertx.core.internal.http.WebSocketInternal;
import io.vertx.core.json.JsonObject;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Turns one client's frames into requests, bounded in rate, size and faults. Reads frames, not Vert.x' messages, which alter
 * bytes that are not UTF-8 and silently drop too long a message. Confined to the connection's event loop.
 */
final class FrameReader {
    private static final FaultLog FAULTS = new FaultLog(LoggerFactory.getLogger(FrameReader.class), System::nanoTime);

    /** Frames without a readable id before the client counts as broken. A refused frame with an id is not broken. */
    private static final int MAX_FAULTS = 20;

    /** Characters of a request's id. */
    private static final int MAX_ID_LENGTH = 64;

    private final SocketFace face;
    private final Connection connection;
    private final MessageRate rate;
    private @Nullable Buffer pieces;
    private int faults;

    FrameReader(SocketFace face, Connection connection) {
        this.face = face;
        this.connection = connection;
        this.rate = new MessageRate(face.config().messagesPerSecond(), System.nanoTime());
    }

    void arrived(WebSocketFrame frame, long nowNanos) {
        if (frame.isClose()) {
            return;
        }
        boolean whole = frame.isFinal() && !frame.isContinuation();
        if (!rate.allows(nowNanos)) {
            tooFast(whole);
        } else if (frame.isBinary()) {
            connection.close(CloseReason.BINARY_REFUSED);
        } else if (frame.isText() || frame.isContinuation()) {
            Buffer bytes = frame.binaryData();
            if (!whole) {
                // Not copy(): the copy of an empty buffer cannot grow.
                bytes = (pieces == null ? Buffer.buffer() : pieces).appendBuffer(bytes);
                pieces = frame.isFinal() ? null : bytes;
            }
            if (bytes.length() > HttpSettings.MAX_FRAME_BYTES) {
                connection.close(CloseReason.TOO_LARGE);
            } else if (frame.isFinal()) {
                received(bytes.getBytes());
            }
        }
    }

    private void received(byte[] text) {
        JsonObject frame = null;
        try {
            frame = StrictJson.COMMAND.decode(text);
            face.requests().answer(connection, frame);
        } catch (InvalidInputException invalid) {
            String id = frame == null ? allowed(StrictJson.topText(text, "id")) : idOf(frame);
            connection.refuse(id, Problem.of(invalid));
            if (id == null && ++faults > MAX_FAULTS) {
                connection.close(CloseReason.TOO_MANY_ERRORS);
            }
        } catch (RuntimeException fault) {
            failed(connection.caller(), frame, fault);
            connection.refuse(idOf(frame), Problem.of(ProblemType.INTERNAL_ERROR));
        }
    }

    /** Logs an unexpected fault. @param caller null before the first token @param frame null if it could not be read */
    static void failed(@Nullable Caller caller, @Nullable JsonObject frame, Throwable fault) {
        String type = frame == null ? null : allowed(frame.getValue("type"));
        String user = caller == null ? "nobody" : caller.user().value();
        FAULTS.failed("frame " + type + " of " + user + " failed, id " + idOf(frame), fault);
    }

    /** The frame's {@code id}, if an answer may repeat it; null otherwise. */
    static @Nullable String idOf(@Nullable JsonObject frame) {
        return frame == null ? null : allowed(frame.getValue("id"));
    }

    /** As asyncapi.yaml's {@code RequestId}, which counts characters, not halves of them. */
    private static @Nullable String allowed(@Nullable Object id) {
        return id instanceof String text && !text.isEmpty() && text.codePointCount(0, text.length()) <= MAX_ID_LENGTH
                ? text
                : null;
    }

    /** Closes if the excess frame is a piece of a message, because the rest would be useless. */
    private void tooFast(boolean whole) {
        if (!whole || rate.isHostile()) {
            connection.close(CloseReason.TOO_MANY_MESSAGES);
        } else if (rate.isNew()) {
            connection.refuse(
                    null,
                    Problem.tooMany(
                            Reason.RATE,
                            Text.of("socket.too-many-frames", face.config().messagesPerSecond()),
                            1));
        }
    }

    /** Limits one connection's frames: a rate per second, with bursts of twice that. */
    static final class MessageRate {
        private static final double NANOS = 1e9;

        /** Seconds of the allowed rate that may be exceeded before the connection is hostile. */
        private static final int PATIENCE = 5;

        private final int perSecond;
        private double tokens;
        private long sinceNanos;
        private int excess;

        MessageRate(int perSecond, long nowNanos) {
            this.perSecond = perSecond;
            this.tokens = 2.0 * perSecond;
            this.sinceNanos = nowNanos;
        }

        /** Counts a frame; false if it exceeds the rate. */
        boolean allows(long nowNanos) {
            tokens = Math.min(2.0 * perSecond, tokens + (nowNanos - sinceNanos) / NANOS * perSecond);
            sinceNanos = nowNanos;
            if (tokens < 1) {
                excess++;
                return false;
            }
            tokens--;
            if (tokens > perSecond) {
                excess = 0;
            }
            return true;
        }

        /** Whether the client ignores the refusals. */
        boolean isHostile() {
            return excess > PATIENCE * perSecond;
        }

        /** Whether to answer this excess frame; only the first of a while is answered. */
        boolean isNew() {
            return excess % perSecond == 1 || perSecond == 1;
        }
    }

    /**
     * Detects frames that are too long or break RFC 6455, as soon as their header arrives. Vert.x would cut the line at once, without
     * a reason for the client. The decoder discards the rest. Confined to the socket's event loop.
     */
    static final class BrokenFrames extends ChannelInboundHandlerAdapter {
        private final Consumer<CloseReason> close;

        private BrokenFrames(Consumer<CloseReason> close) {
            this.close = close;
        }

        /** @param close closes the socket with a close frame; may be called again */
        static void watch(ServerWebSocket socket, Consumer<CloseReason> close) {
            if (socket instanceof WebSocketInternal internal) {
                ChannelHandlerContext channel = internal.channelHandlerContext();
                channel.pipeline().addBefore(channel.name(), "broken frames", new BrokenFrames(close));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext channel, Throwable fault) {
            if (fault instanceof CorruptedWebSocketFrameException corrupted) {
                boolean tooLarge = corrupted.closeStatus().code() == WebSocketCloseStatus.MESSAGE_TOO_BIG.code();
                close.accept(tooLarge ? CloseReason.TOO_LARGE : CloseReason.PROTOCOL_ERROR);
            } else {
                channel.fireExceptionCaught(fault);
            }
        }
    }
}
