package dev.hongbao.http;

import static io.vertx.core.http.HttpVersion.HTTP_1_1;
import static io.vertx.core.http.HttpVersion.HTTP_2;

import dev.hongbao.config.AddressRange;
import dev.hongbao.config.ListenAddress;
import dev.hongbao.http.HttpFace.SocketUpgrade;
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
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.HttpServerConnection;
import io.vertx.core.http.impl.VertxHttpRequestDecoder;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One event loop's HTTP server; several instances share the port. A stop closes the port, refuses new work with 503, waits for
 * answers in flight and for commands whose clients have gone, then closes the rest.
 */
final class HttpVerticle extends VerticleBase {
    private static final long SWEEP_MILLIS = 1_000;
    private static final int ACCEPT_BACKLOG = 4_096;
    private static final int MAX_CHUNK_BYTES = 8 * 1024;
    private static final long MIN_IDLE_MILLIS = 60_000;
    private static final int SEND_BUFFER_BYTES = 128 * 1024;
    /** Concurrent requests per connection. */
    private static final int MAX_STREAMS = 100;
    /** Enough for a client that cancels all its streams twice in ten seconds. */
    private static final int MAX_RESETS = 200;

    private static final int RESETS_WINDOW_SECONDS = 10;
    /** A proxy sends its header first. */
    private static final int PROXY_PROTOCOL_SECONDS = 5;
    /** Time for a client to answer a close frame; then its connection is cut. */
    private static final int SOCKET_CLOSING_SECONDS = 2;
    /** Vert.x reads a negative port as a free one, the same for all instances of a deployment. */
    private static final int SHARED_FREE_PORT = -1;

    private final HttpSettings settings;
    private final Supplier<Future<HttpFace>> opening;
    private final IntConsumer listening;

    @SuppressWarnings("NullAway.Init") // set by start
    private HttpServer server;

    @SuppressWarnings("NullAway.Init") // set by start
    private HttpFace face;

    HttpVerticle(HttpSettings settings, Supplier<Future<HttpFace>> opening, IntConsumer listening) {
        this.settings = settings;
        this.opening = opening;
        this.listening = listening;
    }

    @Override
    public Future<?> start() {
        return opening.get().compose(this::listen);
    }

    private Future<?> listen(HttpFace opened) {
        face = opened;
        Connections connections = face.connections();
        HttpServerOptions options = options();
        ListenAddress.Tls files = settings.address().tls();
        if (files == null) {
            return serve(options, connections);
        }
        ServerTls tls = new ServerTls(vertx, "http", files);
        return tls.secure(options)
                .compose(secured -> serve(overHttp2(options), connections))
                .onSuccess(listening -> tls.follow(server, options));
    }

    private Future<?> serve(HttpServerOptions options, Connections connections) {
        server = vertx.createHttpServer(options)
                .connectionHandler(connection -> {
                    if (!mayConnect(connection)) {
                        var unused = connection.close();
                        return;
                    }
                    StrictDecoder.guard(connection, options, () -> face.handleBroken(connection));
                    connections.opened(connection);
                })
                .requestHandler(face)
                .invalidRequestHandler(face::handleInvalid);
        vertx.setPeriodic(SWEEP_MILLIS, tick -> connections.sweep());
        return server.listen().map(bound -> {
            listening.accept(bound.actualPort());
            return bound;
        });
    }

    @Override
    public Future<?> stop() {
        return face.close(() -> server.shutdown(settings.timeouts().drain().toMillis(), TimeUnit.MILLISECONDS));
    }

    /** Whether the peer may connect: any peer, unless {@code connectors} lists the permitted ones, usually proxies. */
    private boolean mayConnect(HttpConnection connection) {
        if (settings.connectors().isEmpty()) {
            return true;
        }
        SocketAddress peer = connection.remoteAddress(true);
        String text = peer == null ? null : peer.hostAddress();
        InetAddress address = text == null ? null : AddressRange.literal(text);
        return address != null && AddressRange.anyHolds(settings.connectors(), address);
    }

    /**
     * Offers HTTP/2 by ALPN beside HTTP/1.1. A flood of resets (CVE-2023-44487) is answered with ENHANCE_YOUR_CALM. Headers, also
     * in CONTINUATION frames, have HTTP/1.1's limit. Netty bounds empty frames, and frames that need an answer, such as settings.
     */
    private static HttpServerOptions overHttp2(HttpServerOptions options) {
        return options.setUseAlpn(true)
                .setAlpnVersions(List.of(HTTP_2, HTTP_1_1))
                .setInitialSettings(new Http2Settings()
                        .setMaxConcurrentStreams(MAX_STREAMS)
                        .setMaxHeaderListSize(HttpSettings.MAX_HEADER_BYTES))
                .setHttp2RstFloodMaxRstFramePerWindow(MAX_RESETS)
                .setHttp2RstFloodWindowDuration(RESETS_WINDOW_SECONDS)
                .setHttp2RstFloodWindowDurationTimeUnit(TimeUnit.SECONDS);
    }

    private HttpServerOptions options() {
        int port = settings.address().port();
        return new HttpServerOptions()
                .setHost(settings.address().host())
                .setPort(port == 0 ? SHARED_FREE_PORT : port)
                .setMaxHeaderSize(HttpSettings.MAX_HEADER_BYTES)
                .setMaxInitialLineLength(HttpSettings.MAX_INITIAL_LINE_BYTES)
                .setMaxChunkSize(MAX_CHUNK_BYTES)
                .setMaxFormAttributeSize(0)
                .setMaxFormFields(0)
                .setMaxFormBufferedBytes(0)
                .setHandle100ContinueAutomatically(true)
                .setHttp2ClearTextEnabled(false)
                .setCompressionSupported(false)
                .setDecompressionSupported(false)
                .setPerFrameWebSocketCompressionSupported(false)
                .setPerMessageWebSocketCompressionSupported(false)
                .setMaxWebSocketFrameSize(HttpSettings.MAX_FRAME_BYTES)
                .setMaxWebSocketMessageSize(HttpSettings.MAX_FRAME_BYTES)
                .setWebSocketSubProtocols(List.of(SocketUpgrade.SUBPROTOCOL))
                .setWebSocketClosingTimeout(SOCKET_CLOSING_SECONDS)
                // Twice the keep-alive: only for cases that the sweep cannot see, such as an unread answer. Never
                // shorter than the interval between two pings of a socket.
                .setIdleTimeout((int) Math.max(
                        MIN_IDLE_MILLIS, 2 * settings.timeouts().keepAlive().toMillis()))
                .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
                // The kernel's send buffer, which by default grows to megabytes per connection.
                .setSendBufferSize(SEND_BUFFER_BYTES)
                .setUseProxyProtocol(!settings.connectors().isEmpty())
                .setProxyProtocolTimeout(PROXY_PROTOCOL_SECONDS)
                .setProxyProtocolTimeoutUnit(TimeUnit.SECONDS)
                .setTcpNoDelay(true)
                .setTcpKeepAlive(true)
                .setAcceptBacklog(ACCEPT_BACKLOG)
                .setReuseAddress(true);
    }

    /**
     * Reads requests as Vert.x does, but refuses requests that a proxy may read differently (request smuggling, RFC 9112 §3.2 and
     * §6.3). These have Content-Length and Transfer-Encoding, a transfer coding other than one {@code chunked}, a version other than
     * 1.0 and 1.1, two hosts, or two tokens. Such a request is passed on as invalid, and nothing after it is read. Nothing is read
     * after a broken chunk either, for which Vert.x alone would only close the connection. On the connection's event loop.
     */
    private static final class StrictDecoder extends VertxHttpRequestDecoder {
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
                } else if (read instanceof HttpContent body
                        && body.decoderResult().isFailure()) {
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
            return isFaulty(request)
                    ? DecoderResult.failure(new IllegalArgumentException("an ambiguous request"))
                    : null;
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
}
