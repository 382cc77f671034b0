package dev.hongbao.common.config;

import java.time.Duration;

/** The outbox. */
public record OutboxConfig(
        @ConfigOption(
                path = "outbox.retention",
                range = "1m … 365d",
                unset = "7d",
                doc = "How long the outbox is kept for a host that was away.")
        Duration retention) {}
