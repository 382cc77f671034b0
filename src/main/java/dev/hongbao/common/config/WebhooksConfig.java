package dev.hongbao.common.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How webhooks are delivered.
 *
 * @param timeout of one attempt
 * @param maxWait between two attempts, at the most
 * @param disableAfter how long one may fail
 * @param secretOverlap how long an old secret still signs
 * @param privateNetworks that webhooks may lead to besides the public ones
 * @param authority a PEM file of who may sign receivers' certificates besides the public authorities; null for nobody
 */
public record WebhooksConfig(
        Duration timeout,
        Duration maxWait,
        Duration disableAfter,
        Duration secretOverlap,
        List<AddressRange> privateNetworks,
        @Nullable Path authority) {
    public WebhooksConfig {
        Options.WEBHOOKS_TIMEOUT.require(timeout);
        Options.WEBHOOKS_MAX_WAIT.require(maxWait);
        Options.WEBHOOKS_DISABLE_AFTER.require(disableAfter);
        Options.WEBHOOKS_SECRET_OVERLAP.require(secretOverlap);
        privateNetworks = List.copyOf(privateNetworks);
    }

    static WebhooksConfig from(OptionValues values) {
        return new WebhooksConfig(
                values.get(Options.WEBHOOKS_TIMEOUT),
                values.get(Options.WEBHOOKS_MAX_WAIT),
                values.get(Options.WEBHOOKS_DISABLE_AFTER),
                values.get(Options.WEBHOOKS_SECRET_OVERLAP),
                values.get(Options.WEBHOOKS_PRIVATE_NETWORKS),
                values.get(Options.WEBHOOKS_TLS_AUTHORITY).orElse(null));
    }
}
