package dev.hongbao.page;

import java.util.Map;

/** A host's own services, and the server that is configured with them; all end with the JVM. */
final class Host {
    static final OpenIdProvider PROVIDER = new OpenIdProvider();
    static final Pictures PICTURES;

    static {
        try {
            PICTURES = new Pictures();
        } catch (Exception fault) {
            throw new ExceptionInInitializerError(fault);
        }
    }

    private Host() {}

    static Home home() {
        return Home.of(Map.of(
                "console.oidc-issuer",
                PROVIDER.issuer(),
                "console.oidc-client-id",
                "console",
                "page.images",
                PICTURES.origin()));
    }
}
