package dev.hongbao.domain.webhook;

import dev.hongbao.common.config.AddressRange;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;

/** The rules for a webhook's URL. A delivery checks the addresses of its name, which may change. Pure. */
final class WebhookUrl {
    private static final int MAX_PORT = 65_535;

    private WebhookUrl() {}

    /**
     * Checks a URL.
     *
     * @param guard the allowed addresses
     * @throws RefusedException when it is not allowed
     */
    static void check(String text, AddressGuard guard) {
        URI url;
        try {
            url = new URI(text);
        } catch (URISyntaxException none) {
            throw refused(Text.of("url.malformed"));
        }
        if (!text.equals(url.toASCIIString())) {
            throw refused(Text.of("url.ascii"));
        }
        if (!"https".equals(url.getScheme()) && !(guard.allowsPlain() && "http".equals(url.getScheme()))) {
            throw refused(Text.of("url.scheme"));
        }
        if (url.getHost() == null || url.getPort() > MAX_PORT || url.getPort() == 0) {
            throw refused(Text.of("url.host"));
        }
        if (url.getRawUserInfo() != null || url.getRawFragment() != null) {
            throw refused(Text.of("url.user-or-fragment"));
        }
        InetAddress address = AddressRange.literal(url.getHost());
        Text why = address == null ? null : guard.whyNot(address, "https".equals(url.getScheme()));
        if (why != null) {
            throw refused(why);
        }
    }

    /**
     * The refusal of a URL with a forbidden address.
     *
     * @param why as {@link AddressGuard#whyNot}
     */
    static RefusedException notPublic(Text why) {
        return refused(Text.of("url.private", why));
    }

    private static RefusedException refused(Text why) {
        return new RefusedException(Refusal.INVALID, Text.of("webhook.url", why));
    }
}
