package dev.hongbao.config;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An address, or a block of them in CIDR notation: {@code 10.0.0.0/8}, {@code 2001:db8::/32}. Names are not looked up.
 *
 * @param address the block's first address
 * @param bits the number of leading bits that identify the block, 0 to 32 or 128
 */
public record AddressRange(InetAddress address, int bits) {
    /**
     * Reads a block.
     *
     * @throws IllegalArgumentException when the text is not a block
     */
    public static AddressRange parse(String text) {
        String[] parts = text.split("/", 2);
        InetAddress address = literal(parts[0]);
        if (address == null) {
            throw new IllegalArgumentException("not an address");
        }
        int width = address.getAddress().length * 8;
        int bits = parts.length == 1 ? width : Integer.parseInt(parts[1]);
        if (bits < 0 || bits > width) {
            throw new IllegalArgumentException("not a prefix length");
        }
        return new AddressRange(address, bits);
    }

    /**
     * Reads an address literal. An IPv4 address mapped into IPv6 counts as an IPv4 address.
     *
     * @return null for any other text, also for a name
     */
    public static @Nullable InetAddress literal(String text) {
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(text);
        try {
            return bytes == null ? null : InetAddress.getByAddress(bytes);
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    public static boolean anyHolds(List<AddressRange> ranges, InetAddress address) {
        for (AddressRange range : ranges) {
            if (range.holds(address)) {
                return true;
            }
        }
        return false;
    }

    private boolean holds(InetAddress other) {
        byte[] mine = address.getAddress();
        byte[] theirs = other.getAddress();
        if (mine.length != theirs.length) {
            return false;
        }
        for (int bit = 0; bit < bits; bit++) {
            int mask = 0x80 >> (bit % 8);
            if ((mine[bit / 8] & mask) != (theirs[bit / 8] & mask)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        return address.getHostAddress() + (bits == address.getAddress().length * 8 ? "" : "/" + bits);
    }
}
