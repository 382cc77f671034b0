package dev.hongbao.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.HttpServerConnection;
import io.vertx.core.http.impl.VertxHttpRequestDecoder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests as Vert.x does, but refuses requests that a proxy may read differently (request smuggling, RFC 9112 §3.2 and
 * §6.3). These have Content-Length and Transfer-Encoding, a transfer coding other than one {@code chunked}, a version other than
 * 1.0 and 1.1, two hosts, or two tokens. Such a request is passed on as invalid, and nothing after it is read. Nothing is read
 * after a broken chunk either, for which Vert.x alone would only close the connection. On the connection's event loop.
 */
final class StrictDecoder extends VertxHttpRequestDecoder {
    private static final String NAME = "httpDecoder";

    private final Runnable brokenBody;
    private boolean ambiguous;
    private boolean over;

    private StrictDecoder(HttpServerOptions options, Runnable brokenBody) {
        super(options);
        this.brokenBody = brokenBody;
    }

    /**
     * Replaces Vert.x' decoder on a connection that has read nothing yet. HTTP/2 needs none: its frames have unambiguous lengths.
     *
     * @param brokenBody called when a body cannot be read on
     */
    static void guard(HttpConnection connection, HttpServerOptions options, Runnable brokenBody) {
        ChannelPipeline pipeline =
                ((HttpServerConnection) connection).channelHandlerContext().pipeline();
        if (pipeline.get(NAME) != null) {
            pipeline.replace(NAME, NAME, new StrictDecoder(options, brokenBody));
        }
    }

    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        ambiguous = true;
        super.handleTransferEncodingChunkedWithContentLength(message);
    }

    @Override
    protected void decode(ChannelHandlerContext channel, ByteBuf in, List<Object> out) throws Exception {
        if (over) {
            in.skipBytes(in.readableBytes());
            return;
        }
        int before = out.size();
        super.decode(channel, in, out);
        for (int i = before; i < out.size(); i++) {
            Object read = out.get(i);
            if (read instanceof HttpRequest request) {
                DecoderResult fault = faultOf(request);
                if (fault != null) {
                    stop(out, i);
                    HttpMessage invalid = createInvalidMessage();
                    invalid.setDecoderResult(fault);
                    out.add(invalid);
                }
            } else if (read instanceof HttpContent body && body.decoderResult().isFailure()) {
                stop(out, i);
                brokenBody.run();
            }
        }
    }

    private void stop(List<Object> out, int from) {
        over = true;
        while (out.size() > from) {
            ReferenceCountUtil.release(out.remove(out.size() - 1));
        }
    }

    /** Null for a request that needs no change: it is valid, or is marked invalid and has a supported version. */
    private @Nullable DecoderResult faultOf(HttpRequest request) {
        DecoderResult told = request.decoderResult();
        if (told.isFailure()) {
            return isSpoken(request.protocolVersion()) ? null : told;
        }
        return isFaulty(request) ? DecoderResult.failure(new IllegalArgumentException("an ambiguous request")) : null;
    }

    /** Netty accepts {@code http/1.1} as an equal version; Vert.x knows only these two objects, and answers others with a bare 501. */
    @SuppressWarnings("ReferenceEquality")
    private static boolean isSpoken(HttpVersion version) {
        return version == HttpVersion.HTTP_1_1 || version == HttpVersion.HTTP_1_0;
    }

    private static boolean isTwice(HttpRequest request, CharSequence header) {
        return request.headers().getAll(header).size() > 1;
    }

    private boolean isFaulty(HttpRequest request) {
        HttpVersion version = request.protocolVersion();
        if (ambiguous
                || !isSpoken(version)
                || isTwice(request, HttpHeaderNames.HOST)
                || isTwice(request, HttpHeaderNames.AUTHORIZATION)) {
            return true;
        }
        if (!request.headers().contains(HttpHeaderNames.TRANSFER_ENCODING)) {
            return false;
        }
        List<String> codings = request.headers().getAll(HttpHeaderNames.TRANSFER_ENCODING);
        return codings.size() != 1
                || !codings.get(0).strip().equalsIgnoreCase("chunked")
                || !version.equals(HttpVersion.HTTP_1_1);
    }
}
