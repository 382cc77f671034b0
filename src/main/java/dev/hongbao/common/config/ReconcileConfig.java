package dev.hongbao.common.config;

import java.time.Duration;

/** How the books are checked. */
public record ReconcileConfig(
        @ConfigOption(
                path = "reconcile.every",
                range = "0s … 30d",
                unset = "24h",
                doc = "How often the books are checked in the background, by one of the servers: what is new since"
                        + " the checkpoint; 0s is never.")
        Duration every) {}
