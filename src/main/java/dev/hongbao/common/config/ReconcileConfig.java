package dev.hongbao.common.config;

import java.time.Duration;

/** The background reconciliation. */
public record ReconcileConfig(
        @ConfigOption(
                path = "reconcile.every",
                range = "0s … 30d",
                unset = "24h",
                doc = "The interval of the background reconciliation. One server checks what is new since the"
                        + " checkpoint. 0s for never.")
        Duration every) {}
