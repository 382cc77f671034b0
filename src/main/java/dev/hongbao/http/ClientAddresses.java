package dev.hongbao.http;

import dev.hongbao.config.AddressRange;
import io.netty.util.NetUtil;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The client address of a request or a connection: the peer's, or the client's as trusted proxies report it. All limits by address use
 * it. Thread-safe.
 */
public final class ClientAddresses {
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
