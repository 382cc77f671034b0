package dev.hongbao.common.config;

import java.time.Duration;

/**
 * What auditors read beside the ledger.
 *
 * @param retention how long the audit log is kept, and what is over of restrictions and revocations; at least a year
 */
public record AuditConfig(Duration retention) {
    public AuditConfig {
        Options.AUDIT_RETENTION.require(retention);
    }

    static AuditConfig from(OptionValues values) {
        return new AuditConfig(values.get(Options.AUDIT_RETENTION));
    }
}
