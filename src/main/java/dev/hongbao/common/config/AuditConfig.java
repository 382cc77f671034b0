package dev.hongbao.common.config;

import java.time.Duration;

/** The audit log. */
public record AuditConfig(
        @ConfigOption(
                path = "audit.retention",
                range = "365d … 36500d",
                unset = "1095d",
                doc = "The time for which the audit log keeps calls and refusals, and for which ended restrictions"
                        + " and revocations are kept. Commands that moved money are kept for ever.")
        Duration retention) {}
