package dev.hongbao.tools.chaos.check;

import java.util.List;
import java.util.Map;

/**
 * What the database holds when all is quiet.
 *
 * @param balances of wallets in CNY, by user
 * @param pools by packet, of those that a campaign or a rain pays
 * @param plays what the plays of each user have moved in CNY: awards and returned costs less costs
 */
public record Rows(
        List<Packet> packets,
        List<Claim> claims,
        Map<String, Pool> pools,
        List<Command> commands,
        Map<String, Long> balances,
        Map<String, Long> plays) {
    /** @param refund minor units that went back to the sender; 0 while it is open */
    public record Packet(String id, String sender, int count, long amount, long refund, boolean closed) {}

    /**
     * What makes a packet a pool.
     *
     * @param limit shares that one user may have of the whole campaign
     * @param isDrop of a rain; nobody is told of it in the outbox before it is claimed
     */
    public record Pool(String campaign, int limit, boolean isDrop) {}

    /** A settled claim. */
    public record Claim(String packet, String user, int slot, long amount) {}

    /** @param id its subject: of a send the packet's id */
    public record Command(String operation, String key, String id, long amount) {}
}
