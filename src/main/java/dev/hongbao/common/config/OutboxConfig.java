package dev.hongbao.common.config;

import java.time.Duration;

/** The outbox. */
public record OutboxConfig(
        @ConfigOption(
                path = "outbox.retention",
                range = "1m … 365d",
                unset = "7d",
                doc = "The time for which the outbox keeps events for an absent host.")
        Duration retention) {}
