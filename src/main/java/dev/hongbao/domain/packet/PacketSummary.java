package dev.hongbao.domain.packet;

import dev.hongbao.domain.ledger.Asset;
import java.util.List;

/**
 * What a user received and sent in a period, by asset code; an asset of which there was nothing is left out.
 *
 * @param received by the times of the claims
 * @param sent by the times at which the packets were made; without pools, which a campaign pays
 */
public record PacketSummary(List<Received> received, List<Sent> sent) {
    /**
     * Settled claims of an asset.
     *
     * @param amount minor units, 1 and up
     * @param luckiest how many of them were the largest of a drained packet of unequal shares, more than one
     */
    public record Received(Asset asset, long count, long amount, long luckiest) {}

    /**
     * Packets of an asset.
     *
     * @param amount minor units, 1 and up
     * @param refunded how much of it has come back by now, minor units, 0 and up
     */
    public record Sent(Asset asset, long count, long amount, long refunded) {}
}
