package dev.hongbao.common.config;

import java.time.Duration;

/** The groups' feeds. */
public record FeedConfig(
        @ConfigOption(
                path = "feed.retention",
                range = "1m … 30d",
                unset = "24h",
                doc = "How long events are kept for clients that were away; of a group, the newest 1000.")
        Duration retention) {}
