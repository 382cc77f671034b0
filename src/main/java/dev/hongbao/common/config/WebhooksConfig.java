package dev.hongbao.common.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How webhooks are delivered. */
public record WebhooksConfig(
        @ConfigOption(
                path = "webhooks.timeout",
                range = "100ms … 1m",
                unset = "15s",
                fixed = true,
                doc = "A webhook's receiver that has not answered after so long has failed, as Standard"
                        + " Webhooks recommends.")
        Duration timeout,

        @ConfigOption(
                path = "webhooks.max-wait",
                range = "100ms … 7d",
                unset = "24h",
                doc = "The longest wait before a failed delivery is tried again. It begins with 1s and doubles.")
        Duration maxWait,

        @ConfigOption(
                path = "webhooks.disable-after",
                range = "1s … 30d",
                unset = "5d",
                doc = "A webhook that fails for so long is disabled; the outbox waits for it no more.")
        Duration disableAfter,

        @ConfigOption(
                path = "webhooks.private-networks",
                doc = "Networks that are not public and that webhooks may lead to all the same, there also over"
                        + " plain http.")
        List<AddressRange> privateNetworks,

        @ConfigOption(
                path = "webhooks.tls-authority",
                doc = "Certificates (PEM) of who may have signed those of webhooks' receivers, besides whom the JVM"
                        + " trusts.")
        @Nullable
        Path authority) {}
