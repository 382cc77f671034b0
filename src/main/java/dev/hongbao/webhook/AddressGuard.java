package dev.hongbao.webhook;

import dev.hongbao.config.AddressRange;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Text;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The URLs and addresses that a webhook may call: public ones only, against server-side request forgery. By the registries of special
 * addresses of IPv4 and IPv6 (RFC 6890 and its successors). A delivery checks the addresses of the URL's name again, which may change.
 * Immutable.
 */
final class AddressGuard {
    private static final int MAX_PORT = 65_535;

    private static final List<AddressRange> NOT_PUBLIC = Stream.of(
                    "0.0.0.0/8",
                    "10.0.0.0/8",
                    "100.64.0.0/10", // shared by carriers; some clouds keep their metadata here
                    "127.0.0.0/8",
                    "169.254.0.0/16", // link-local; some clouds keep their metadata here
                    "172.16.0.0/12",
                    "192.0.0.0/24",
                    "192.0.2.0/24",
                    "192.88.99.0/24",
                    "192.168.0.0/16",
                    "198.18.0.0/15",
                    "198.51.100.0/24",
                    "203.0.113.0/24",
                    "224.0.0.0/4",
                    "240.0.0.0/4",
                    // Global in IPv6, but excluded: tunnels, whose addresses embed other addresses, and addresses for
                    // documentation
                    "2001::/23",
                    "2001:db8::/32",
                    "2002::/16",
                    "3fff::/20")
            .map(AddressRange::parse)
            .toList();

    /** All global addresses of IPv6. The rest is for hosts, links, sites, and for translation into IPv4. */
    private static final List<AddressRange> GLOBAL_IPV6 = List.of(AddressRange.parse("2000::/3"));

    private final List<AddressRange> allowed;
    private final Lookup lookup;

    /** Looks up the addresses of a name; blocks. */
    @FunctionalInterface
    public interface Lookup {
        /** @return at least one */
        InetAddress[] all(String host) throws UnknownHostException;
    }

    /** A host has an address that is not allowed. */
    public static final class ForbiddenException extends UnknownHostException {
        private static final long serialVersionUID = 1L;

        private final transient Text why;

        private ForbiddenException(Text why) {
            super("the URL " + why);
            this.why = why;
        }

        /** The reason, in words that follow "the URL". */
        Text why() {
            return why;
        }
    }

    /**
     * Looks names up as the JVM does.
     *
     * @param allowed addresses besides the public ones
     */
    public AddressGuard(List<AddressRange> allowed) {
        this(allowed, InetAddress::getAllByName);
    }

    /** @param allowed addresses besides the public ones */
    public AddressGuard(List<AddressRange> allowed, Lookup lookup) {
        this.allowed = List.copyOf(allowed);
        this.lookup = lookup;
    }

    /**
     * Looks a host up once, and chooses one of its addresses if all of them are allowed. Blocks.
     *
     * @param attempt number of the attempt; each one chooses another of several addresses
     * @throws ForbiddenException when one of them is not allowed
     */
    public InetAddress address(String host, boolean secure, int attempt) throws UnknownHostException {
        InetAddress[] all = lookup.all(host);
        for (InetAddress each : all) {
            Text why = whyNot(each, secure);
            if (why != null) {
                throw new ForbiddenException(why);
            }
        }
        return all[attempt % all.length];
    }

    /**
     * The reason why an address may not be called.
     *
     * @param secure true for https
     * @return words that follow "the URL"; null when it may be called
     */
    @Nullable
    Text whyNot(InetAddress address, boolean secure) {
        if (!allows(address)) {
            return Text.of("url.not-public");
        }
        return secure || allowsPlain(address) ? null : Text.of("url.public-http");
    }

    private boolean allows(InetAddress address) {
        if (AddressRange.anyHolds(allowed, address)) {
            return true;
        }
        return !AddressRange.anyHolds(NOT_PUBLIC, address)
                && (address instanceof Inet4Address || AddressRange.anyHolds(GLOBAL_IPV6, address));
    }

    private boolean allowsPlain(InetAddress address) {
        return AddressRange.anyHolds(allowed, address);
    }

    /**
     * Checks a URL.
     *
     * @throws InvalidInputException when it is not allowed
     */
    void check(String text) {
        URI url;
        try {
            url = new URI(text);
        } catch (URISyntaxException none) {
            throw refused(Text.of("url.malformed"));
        }
        if (!text.equals(url.toASCIIString())) {
            throw refused(Text.of("url.ascii"));
        }
        if (!"https".equals(url.getScheme()) && !(!allowed.isEmpty() && "http".equals(url.getScheme()))) {
            throw refused(Text.of("url.scheme"));
        }
        if (url.getHost() == null || url.getPort() > MAX_PORT || url.getPort() == 0) {
            throw refused(Text.of("url.host"));
        }
        if (url.getRawUserInfo() != null || url.getRawFragment() != null) {
            throw refused(Text.of("url.user-or-fragment"));
        }
        InetAddress address = AddressRange.literal(url.getHost());
        Text why = address == null ? null : whyNot(address, "https".equals(url.getScheme()));
        if (why != null) {
            throw refused(why);
        }
    }

    /**
     * The refusal of a URL with a forbidden address.
     *
     * @param why as {@link #whyNot}
     */
    static InvalidInputException notPublic(Text why) {
        return refused(Text.of("url.private", why));
    }

    private static InvalidInputException refused(Text why) {
        return InvalidInputException.of("#/url", why);
    }
}
