package dev.hongbao.store.postgres;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.internal.VertxWrapper;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.ConnectOptions;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a new connection that is not {@link #lift lifted} in time: a server may accept connections and stay silent. It stands in
 * the pipeline from the first byte on, before TLS and the driver's codec, and closes the socket itself. The driver's own close
 * says goodbye, closes its half, and waits for the peer. A silent peer would then keep the slot in the pool for ever.
 */
final class HandshakeLimit extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(HandshakeLimit.class);
    private static final String NAME = "handshake-limit";

    private final Duration limit;
    private ScheduledFuture<?> end;

    @SuppressWarnings("NullAway.Init") // the timer runs once the handler is in the pipeline
    private HandshakeLimit(Duration limit) {
        this.limit = limit;
    }

    /**
     * A Vert.x whose TCP clients have the limit. The Postgres driver accepts no client from outside.
     *
     * @param limit from the established TCP connection to {@link #lift}
     */
    static Vertx of(Vertx vertx, Duration limit) {
        return new VertxWrapper((VertxInternal) vertx) {
            @Override
            public NetClient createNetClient(NetClientOptions options) {
                return new LimitedClient(delegate.createNetClient(options), limit);
            }
        };
    }

    /** Ends the limit after the handshake. Idempotent; on the connection's event loop. */
    static void lift(ChannelPipeline pipeline) {
        if (pipeline.get(NAME) != null) {
            pipeline.remove(NAME);
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        end = context.executor().schedule(() -> close(context), limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        end.cancel(false);
    }

    private void close(ChannelHandlerContext context) {
        LOG.debug("no end of a handshake with Postgres within {} ms", limit.toMillis());
        context.pipeline().firstContext().close();
    }

    private record LimitedClient(NetClient client, Duration limit) implements NetClient {
        private Future<NetSocket> limited(Future<NetSocket> connect) {
            return connect.map(socket -> {
                ((NetSocketInternal) socket)
                        .channelHandlerContext()
                        .pipeline()
                        .addFirst(NAME, new HandshakeLimit(limit));
                return socket;
            });
        }

        @Override
        public Future<NetSocket> connect(int port, String host) {
            return limited(client.connect(port, host));
        }

        @Override
        public Future<NetSocket> connect(int port, String host, String serverName) {
            return limited(client.connect(port, host, serverName));
        }

        @Override
        public Future<NetSocket> connect(SocketAddress address) {
            return limited(client.connect(address));
        }

        @Override
        public Future<NetSocket> connect(SocketAddress address, String serverName) {
            return limited(client.connect(address, serverName));
        }

        @Override
        public Future<NetSocket> connect(ConnectOptions options) {
            return limited(client.connect(options));
        }

        @Override
        public Future<Void> shutdown(long timeout, TimeUnit unit) {
            return client.shutdown(timeout, unit);
        }

        @Override
        public Future<Boolean> updateSSLOptions(ClientSSLOptions options, boolean force) {
            return client.updateSSLOptions(options, force);
        }

        @Override
        public boolean isMetricsEnabled() {
            return client.isMetricsEnabled();
        }
    }
}
