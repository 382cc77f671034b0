package dev.hongbao.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The delivery of webhooks. */
public record WebhooksConfig(
        @ConfigOption(
                path = "webhooks.timeout",
                range = "100ms … 1m",
                unset = "15s",
                fixed = true,
                doc = "An attempt without an answer after this time has failed. Standard Webhooks recommends this"
                        + " value.")
        Duration timeout,

        @ConfigOption(
                path = "webhooks.max-wait",
                range = "100ms … 7d",
                unset = "24h",
                doc = "The longest wait before a failed delivery is tried again. Waits begin with 1s and double.")
        Duration maxWait,

        @ConfigOption(
                path = "webhooks.disable-after",
                range = "1s … 30d",
                unset = "5d",
                doc = "A webhook that fails for this time is disabled. The outbox then no longer waits for it.")
        Duration disableAfter,

        @ConfigOption(
                path = "webhooks.private-networks",
                doc = "Private networks that webhooks may lead to, also over plain http.")
        List<AddressRange> privateNetworks,

        @ConfigOption(
                path = "webhooks.tls-authority",
                doc = "Certificates (PEM) of authorities that may sign the certificates of webhooks' receivers, in"
                        + " addition to those that the JVM trusts.")
        @Nullable
        Path authority) {}
