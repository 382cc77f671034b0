package dev.hongbao.common.config;

import java.time.Duration;

/**
 * Idempotency keys.
 *
 * @param retention how long a key is remembered; at least 24 h
 */
public record IdempotencyConfig(Duration retention) {
    public IdempotencyConfig {
        Options.IDEMPOTENCY_RETENTION.require(retention);
    }

    static IdempotencyConfig from(OptionValues values) {
        return new IdempotencyConfig(values.get(Options.IDEMPOTENCY_RETENTION));
    }
}
