package dev.hongbao.common.config;

import java.time.Duration;

/**
 * What senders may ask for.
 *
 * @param defaultExpiry from sending, when the sender says nothing; at most {@code maxExpiry}
 * @param maxExpiry the longest a sender may ask for
 * @param maxCount shares in one packet
 */
public record PacketConfig(Duration defaultExpiry, Duration maxExpiry, int maxCount) {
    public PacketConfig {
        Options.PACKET_DEFAULT_EXPIRY.require(defaultExpiry);
        Options.PACKET_MAX_EXPIRY.require(maxExpiry);
        Options.PACKET_MAX_COUNT.require(maxCount);
    }

    static PacketConfig from(OptionValues values) {
        return new PacketConfig(
                values.get(Options.PACKET_DEFAULT_EXPIRY),
                values.get(Options.PACKET_MAX_EXPIRY),
                values.get(Options.PACKET_MAX_COUNT));
    }
}
