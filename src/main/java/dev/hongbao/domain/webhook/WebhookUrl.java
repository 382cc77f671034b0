package dev.hongbao.domain.webhook;

import dev.hongbao.common.config.AddressRange;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;

/** What a webhook's URL may look like. Where a name leads is looked at when it is called, since it may lead elsewhere by then. Pure. */
final class WebhookUrl {
    private static final int MAX_PORT = 65_535;

    private WebhookUrl() {}

    /**
     * Checks a URL.
     *
     * @param guard which addresses it may lead to
     * @throws RefusedException when it is not allowed
     */
    static void check(String text, AddressGuard guard) {
        URI url;
        try {
            url = new URI(text);
        } catch (URISyntaxException none) {
            throw refused("is not a URL");
        }
        if (!text.equals(url.toASCIIString())) {
            throw refused("must be ASCII: write other characters as %XX");
        }
        if (!"https".equals(url.getScheme()) && !(guard.allowsPlain() && "http".equals(url.getScheme()))) {
            throw refused(
                    "must begin with https://, or with http:// where webhooks.private-networks names its network");
        }
        if (url.getHost() == null || url.getPort() > MAX_PORT || url.getPort() == 0) {
            throw refused("must name a host, and a port from 1 to 65535 or none");
        }
        if (url.getRawUserInfo() != null || url.getRawFragment() != null) {
            throw refused("must have no user and no fragment");
        }
        InetAddress address = AddressRange.literal(url.getHost());
        String why = address == null ? null : guard.whyNot(address, "https".equals(url.getScheme()));
        if (why != null) {
            throw refused(why + ": only webhooks.private-networks allows that");
        }
    }

    private static RefusedException refused(String why) {
        return new RefusedException(Refusal.INVALID, "The url " + why + ".");
    }
}
