package dev.hongbao.web.http;

import dev.hongbao.common.config.AddressRange;
import io.netty.util.NetUtil;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whose address a request or a connection has: the peer's, or what trusted proxies tell of it. One notion for all limits by
 * address. Thread-safe.
 */
public final class ClientAddresses {
    private static final List<AddressRange> LOOPBACK =
            List.of(AddressRange.parse("127.0.0.0/8"), AddressRange.parse("::1"));

    /** What proxies write. RFC 7239's {@code Forwarded} is not read: a proxy passes it on as the client wrote it. */
    private static final String HEADER = "X-Forwarded-For";

    private static final ClientAddress UNKNOWN = new ClientAddress("unknown", false);

    private final List<AddressRange> proxies;
    private final List<AddressRange> own;

    /**
     * An address for counting.
     *
     * @param key IPv4 as it is; of IPv6 the /64 that one subscriber has
     * @param isExempt whether it is no one person's: a proxy's, or this machine's own
     */
    public record ClientAddress(String key, boolean isExempt) {
        /** How many it may have of what others may have {@code most} of. */
        public int most(int most) {
            return isExempt ? Integer.MAX_VALUE : most;
        }
    }

    private ClientAddresses(List<AddressRange> proxies, List<AddressRange> own) {
        this.proxies = List.copyOf(proxies);
        this.own = List.copyOf(own);
    }

    /**
     * @param proxies whose word about their clients is believed; may be empty
     */
    public static ClientAddresses of(List<AddressRange> proxies) {
        return new ClientAddresses(proxies, LOOPBACK);
    }

    /** The same for a test that has only loopback: of it, only {@code own} is exempt. */
    static ClientAddresses onLoopback(List<AddressRange> own) {
        return new ClientAddresses(List.of(), own);
    }

    /** The address of a connection's peer, which may be a proxy. */
    ClientAddress ofPeer(@Nullable SocketAddress peer) {
        InetAddress address = inet(peer);
        return address == null ? UNKNOWN : counted(address);
    }

    /**
     * The address of who asks: the last one on the way here that is no trusted proxy. What an untrusted peer writes into the
     * header is ignored, and so is what stands left of the first untrusted hop.
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
