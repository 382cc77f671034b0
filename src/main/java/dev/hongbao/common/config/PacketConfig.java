package dev.hongbao.common.config;

import java.time.Duration;

/** Limits on packets. */
public record PacketConfig(
        @ConfigOption(
                path = "packet.default-expiry",
                range = "1s … 365d",
                unset = "24h",
                doc = "The time from the opening to the expiry of a packet when its sender gives none.")
        Duration defaultExpiry,

        @ConfigOption(
                path = "packet.max-expiry",
                range = "1s … 365d",
                unset = "7d",
                doc = "The longest expiry that a sender may choose.")
        Duration maxExpiry,

        @ConfigOption(
                path = "packet.max-count",
                range = "1 … 100000 shares",
                unset = "10000",
                doc = "The most shares of one packet. A send draws and writes all of them: about 10 ms of a core"
                        + " for 10,000.")
        int maxCount) {}
