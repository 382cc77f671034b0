package dev.hongbao.common.config;

import java.time.Duration;

/** What makes commands happen once. */
public record IdempotencyConfig(
        @ConfigOption(
                path = "idempotency.retention",
                range = "24h … 365d",
                unset = "48h",
                doc = "How long an Idempotency-Key is remembered.")
        Duration retention,

        @ConfigOption(
                path = "idempotency.references",
                unset = "any",
                doc = "How many commands one reference of the host may name: any, or unique, and then a second one"
                        + " is refused (409). Of all servers the one that started last says.")
        References references) {
    /** How many commands one reference may name. */
    public enum References {
        /** As many as the host gives it to. */
        ANY,
        /** One, for ever: a second one is refused. */
        UNIQUE
    }
}
