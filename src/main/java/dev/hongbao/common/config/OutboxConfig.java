package dev.hongbao.common.config;

import java.time.Duration;

/**
 * The outbox.
 *
 * @param retention how long rows are kept
 * @param maxRows beyond, the oldest go early
 */
public record OutboxConfig(Duration retention, int maxRows) {
    public OutboxConfig {
        Options.OUTBOX_RETENTION.require(retention);
        Options.OUTBOX_MAX_ROWS.require(maxRows);
    }

    static OutboxConfig from(OptionValues values) {
        return new OutboxConfig(values.get(Options.OUTBOX_RETENTION), values.get(Options.OUTBOX_MAX_ROWS));
    }
}
