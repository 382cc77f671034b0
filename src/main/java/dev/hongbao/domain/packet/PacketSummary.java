package dev.hongbao.domain.packet;

import dev.hongbao.domain.ledger.Asset;
import java.util.List;

/**
 * A user's totals of a period, by asset code. Assets without entries are absent.
 *
 * @param received by the times of the claims
 * @param sent by the creation times of the packets; without pools, which a campaign pays
 */
public record PacketSummary(List<Received> received, List<Sent> sent) {
    /**
     * Settled claims of an asset.
     *
     * @param amount minor units, 1 and up
     * @param luckiest how many were the largest of a drained packet with several, unequal shares
     */
    public record Received(Asset asset, long count, long amount, long luckiest) {}

    /**
     * Packets of an asset.
     *
     * @param amount minor units, 1 and up
     * @param refunded the refunded part until now, minor units, 0 and up
     */
    public record Sent(Asset asset, long count, long amount, long refunded) {}
}
