package dev.hongbao.page;

import dev.hongbao.access.JsonUrl;
import dev.hongbao.config.ManagementConfig;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.StrictJson;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The OpenID provider that lets operators into the console. The browser reads its discovery document, then requests a token. The
 * token endpoint may have another origin, which the console's Content-Security-Policy must allow and only the document names. So
 * the server reads the document when the page is requested, at most once a minute. Confined to its event loop.
 */
final class SignIn {
    private static final Logger LOG = LoggerFactory.getLogger(SignIn.class);

    private static final Duration LIMIT = Duration.ofSeconds(3);
    private static final long FRESH_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** An endpoint's origin. It goes into a header, so it has no blank and no semicolon. */
    private static final Pattern ORIGIN = Pattern.compile("(https?://[A-Za-z0-9.:\\[\\]-]+)(/.*)?");

    private final Vertx vertx;
    private final ManagementConfig.Oidc oidc;
    private final JsonUrl discovery;
    private String tokenOrigin = "";
    private @Nullable Future<String> asked;
    private long askedNanos;

    SignIn(Vertx vertx, ManagementConfig.Oidc oidc) {
        this.vertx = vertx;
        this.oidc = oidc;
        String issuer = oidc.issuer().replaceFirst("/$", "");
        this.discovery = new JsonUrl(URI.create(issuer + "/.well-known/openid-configuration"), LIMIT);
    }

    /** The provider's settings for the console's page; an empty object for none. */
    static String json(ManagementConfig.@Nullable Oidc oidc) {
        return oidc == null
                ? "{}"
                : new JsonText(256)
                        .beginObject()
                        .field("issuer", oidc.issuer())
                        .field("clientId", oidc.clientId())
                        .field("scope", oidc.scope())
                        .endObject()
                        .toString();
    }

    /**
     * The origin of the provider's token endpoint; empty while unknown. Reads the discovery document on a worker. Never fails:
     * while the provider is unreachable, keeps the last origin.
     */
    Future<String> tokenOrigin() {
        long now = System.nanoTime();
        if (asked == null || now - askedNanos > FRESH_NANOS) {
            askedNanos = now;
            asked = vertx.executeBlocking(discovery::read, false)
                    .map(this::tokenOrigin)
                    .onSuccess(origin -> tokenOrigin = origin)
                    .otherwise(fault -> {
                        LOG.warn("console.oidc-issuer: its discovery document: {}", fault.toString());
                        askedNanos = System.nanoTime() - FRESH_NANOS; // again with the next page
                        return tokenOrigin;
                    });
        }
        return asked;
    }

    private String tokenOrigin(String document) {
        try {
            JsonObject found = StrictJson.FOREIGN.decode(document.getBytes(StandardCharsets.UTF_8));
            Matcher endpoint = ORIGIN.matcher(String.valueOf(found.getValue("token_endpoint")));
            if (!oidc.issuer().equals(found.getValue("issuer")) || !endpoint.matches()) {
                throw new IllegalArgumentException("it is of another issuer, or names no token_endpoint");
            }
            return endpoint.group(1);
        } catch (InvalidInputException malformed) {
            throw new IllegalArgumentException("it is no JSON", malformed);
        }
    }
}
