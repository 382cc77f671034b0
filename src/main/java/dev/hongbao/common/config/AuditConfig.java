package dev.hongbao.common.config;

import java.time.Duration;

/** What auditors read beside the ledger. */
public record AuditConfig(
        @ConfigOption(
                path = "audit.retention",
                range = "365d … 36500d",
                unset = "1095d",
                doc = "How long it is known who called what and who was refused, and what is over of restrictions"
                        + " and revocations. What moved money is known for ever.")
        Duration retention) {}
