package dev.hongbao.common.config;

import java.time.Duration;

/** Idempotency keys and references. */
public record IdempotencyConfig(
        @ConfigOption(
                path = "idempotency.retention",
                range = "24h … 365d",
                unset = "48h",
                doc = "The time for which an Idempotency-Key is kept.")
        Duration retention,

        @ConfigOption(
                path = "idempotency.references",
                unset = "any",
                doc = "The number of commands that one reference of the host may name: any, or unique, which"
                        + " refuses a second command (409). The server that started last sets it for all servers.")
        References references) {
    /** The number of commands per reference. */
    public enum References {
        /** Any number. */
        ANY,
        /** One, for ever. A second command is refused. */
        UNIQUE
    }
}
