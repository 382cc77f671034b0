package dev.hongbao.common.config;

import java.time.Duration;

/** The groups' feeds. */
public record FeedConfig(
        @ConfigOption(
                path = "feed.retention",
                range = "1m … 30d",
                unset = "24h",
                doc = "The time for which a group's feed keeps events for absent clients; at most the newest 1000.")
        Duration retention) {}
