package dev.hongbao.common.config;

import java.time.Duration;

/** What senders may ask for. */
public record PacketConfig(
        @ConfigOption(
                path = "packet.default-expiry",
                range = "1s … 365d",
                unset = "24h",
                doc = "A packet expires so long after it was sent, when its sender says nothing.")
        Duration defaultExpiry,

        @ConfigOption(
                path = "packet.max-expiry",
                range = "1s … 365d",
                unset = "7d",
                doc = "The longest expiry a sender may ask for.")
        Duration maxExpiry,

        @ConfigOption(
                path = "packet.max-count",
                range = "1 … 100000 shares",
                unset = "10000",
                doc = "Shares in one packet. Each is drawn and written when it is sent, whoever claims it: some 10"
                        + " ms of a core at 10,000.")
        int maxCount) {}
