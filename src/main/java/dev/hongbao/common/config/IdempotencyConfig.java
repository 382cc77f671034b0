package dev.hongbao.common.config;

import java.time.Duration;

/**
 * What makes commands happen once.
 *
 * @param retention how long an idempotency key is remembered; at least 24 h
 * @param references how many commands one reference of the host may name
 */
public record IdempotencyConfig(Duration retention, References references) {
    /** How many commands one reference may name. */
    public enum References {
        /** As many as the host gives it to. */
        ANY,
        /** One, for ever: a second one is refused. */
        UNIQUE
    }

    public IdempotencyConfig {
        Options.IDEMPOTENCY_RETENTION.require(retention);
    }

    static IdempotencyConfig from(OptionValues values) {
        return new IdempotencyConfig(
                values.get(Options.IDEMPOTENCY_RETENTION), values.get(Options.IDEMPOTENCY_REFERENCES));
    }
}
