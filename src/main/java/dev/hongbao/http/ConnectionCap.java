package dev.hongbao.http;

import dev.hongbao.config.AddressRange;
import dev.hongbao.http.CallsInFlight.Counts;
import dev.hongbao.http.ConnectionCap.ClientAddresses.ClientAddress;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.util.NetUtil;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the API's open connections, in total and per address; the management port's do not count. One instance per server,
 * thread-safe.
 */
public final class ConnectionCap {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionCap.class);
    private static final long TELL_EVERY_NANOS = 60_000_000_000L;

    private final int most;
    private final int mostOfAddress;
    private final ClientAddresses addresses;
    private final List<Connections> loops = new CopyOnWriteArrayList<>();
    private final AtomicInteger total = new AtomicInteger();
    private final Counts<String> byAddress = new Counts<>();
    private final AtomicLong toldNanos = new AtomicLong(System.nanoTime() - TELL_EVERY_NANOS);
    private final Counter refusedFull;
    private final Counter refusedAddress;
    private final Counter evicted;

    /**
     * @param most over all event loops, 1 or more
     * @param mostOfAddress of one address, 1 or more; proxies and this machine are exempt
     */
    public ConnectionCap(int most, int mostOfAddress, ClientAddresses addresses, MeterRegistry registry) {
        this.most = most;
        this.mostOfAddress = mostOfAddress;
        this.addresses = addresses;
        this.refusedFull = ended(registry, "full");
        this.refusedAddress = ended(registry, "address");
        this.evicted = ended(registry, "made-room");
        Gauge.builder("hongbao_http_connections", total, AtomicInteger::get)
                .description("Open connections, WebSockets included")
                .register(registry);
    }

    private static Counter ended(MeterRegistry registry, String reason) {
        return Counter.builder("hongbao_http_connections_closed")
                .description("Connections closed for want of room: new ones, and idle ones that made room")
                .tag("reason", reason)
                .register(registry);
    }

    void add(Connections loop) {
        loops.add(loop);
    }

    /** The client's address, as trusted proxies report it. */
    public ClientAddress addressOf(HttpServerRequest request) {
        return addresses.of(request);
    }

    ClientAddress addressOf(HttpConnection connection) {
        return addresses.ofPeer(connection.remoteAddress());
    }

    /** Counts a new connection; at the limit, the one idle longest makes room. @return false, and counts nothing, if it must close */
    boolean enter(ClientAddress address) {
        if (!byAddress.enter(address.key(), address.most(mostOfAddress))) {
            refusedAddress.increment();
            tell(address.key() + " has its " + mostOfAddress
                    + " connections (http.max-per-address); more of it are closed");
            return false;
        }
        if (total.incrementAndGet() <= most) {
            return true;
        }
        tell("all " + most + " connections (http.max-connections) are open; idle ones make room for new ones");
        if (makeRoom()) {
            evicted.increment();
            return true;
        }
        refusedFull.increment();
        leave(address);
        return false;
    }

    /** Closes the connection idle longest on any loop. @return false if none is idle */
    boolean makeRoom() {
        while (true) {
            Connections longest = null;
            long since = 0;
            for (Connections loop : loops) {
                Long idle = loop.idleSince();
                if (idle != null && (longest == null || idle - since < 0)) {
                    longest = loop;
                    since = idle;
                }
            }
            if (longest == null) {
                return false;
            }
            if (longest.makeRoom()) {
                return true;
            }
        }
    }

    void leave(ClientAddress address) {
        total.decrementAndGet();
        byAddress.leave(address.key());
    }

    /** Logs at most once a minute. */
    private void tell(String what) {
        long now = System.nanoTime();
        long told = toldNanos.get();
        if (now - told >= TELL_EVERY_NANOS && toldNanos.compareAndSet(told, now)) {
            LOG.warn(what);
        }
    }

    /**
     * The client address of a request or a connection: the peer's, or the client's as trusted proxies report it. All limits by address use
     * it. Thread-safe.
     */
    public static final class ClientAddresses {
        private static final List<AddressRange> LOOPBACK =
                List.of(AddressRange.parse("127.0.0.0/8"), AddressRange.parse("::1"));

        /** The proxies' header. RFC 7239's {@code Forwarded} is not read: proxies pass on the client's own value. */
        private static final String HEADER = "X-Forwarded-For";

        private static final ClientAddress UNKNOWN = new ClientAddress("unknown", false);

        private final List<AddressRange> proxies;
        private final List<AddressRange> own;

        /**
         * An address for counting.
         *
         * @param key IPv4 as it is; of IPv6 the /64 that one subscriber has
         * @param isExempt whether many clients share it: a proxy's address, or this machine's own
         */
        public record ClientAddress(String key, boolean isExempt) {
            /** The address's limit: {@code most}, or none if it is exempt. */
            public int most(int most) {
                return isExempt ? Integer.MAX_VALUE : most;
            }
        }

        private ClientAddresses(List<AddressRange> proxies, List<AddressRange> own) {
            this.proxies = List.copyOf(proxies);
            this.own = List.copyOf(own);
        }

        /** @param proxies trusted to report their clients' addresses; may be empty */
        public static ClientAddresses of(List<AddressRange> proxies) {
            return new ClientAddresses(proxies, LOOPBACK);
        }

        /** For tests, which have only loopback addresses: exempts only {@code own}. */
        static ClientAddresses onLoopback(List<AddressRange> own) {
            return new ClientAddresses(List.of(), own);
        }

        /** The address of a connection's peer, which may be a proxy. */
        ClientAddress ofPeer(@Nullable SocketAddress peer) {
            InetAddress address = inet(peer);
            return address == null ? UNKNOWN : counted(address);
        }

        /**
         * The client's address: the last hop that is not a trusted proxy. The header of an untrusted peer, and all hops left of the
         * first untrusted one, are ignored.
         */
        public ClientAddress of(HttpServerRequest request) {
            InetAddress address = inet(request.remoteAddress());
            if (address == null) {
                return UNKNOWN;
            }
            String[] hops = String.join(",", request.headers().getAll(HEADER)).split(",", -1);
            for (int i = hops.length - 1; i >= 0 && AddressRange.anyHolds(proxies, address); i--) {
                InetAddress hop = literal(hops[i]);
                if (hop == null) {
                    break;
                }
                address = hop;
            }
            return counted(address);
        }

        private ClientAddress counted(InetAddress address) {
            boolean exempt = AddressRange.anyHolds(own, address) || AddressRange.anyHolds(proxies, address);
            byte[] bytes = address.getAddress();
            if (bytes.length > 4) {
                bytes = bytes.clone();
                Arrays.fill(bytes, 8, 16, (byte) 0);
            }
            return new ClientAddress(NetUtil.bytesToIpAddress(bytes), exempt);
        }

        private static @Nullable InetAddress inet(@Nullable SocketAddress peer) {
            String text = peer == null ? null : peer.hostAddress();
            return text == null ? null : AddressRange.literal(text);
        }

        /** An address with or without a port; null for anything else. */
        private static @Nullable InetAddress literal(String hop) {
            String text = hop.strip();
            int bracket = text.indexOf(']');
            if (text.startsWith("[") && bracket > 0) {
                text = text.substring(1, bracket);
            } else if (text.indexOf(':') >= 0 && text.indexOf(':') == text.lastIndexOf(':')) {
                text = text.substring(0, text.indexOf(':'));
            }
            return AddressRange.literal(text);
        }
    }
}
