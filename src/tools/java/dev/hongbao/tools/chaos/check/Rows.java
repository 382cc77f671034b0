package dev.hongbao.tools.chaos.check;

import java.util.List;
import java.util.Map;

/**
 * The database at the end.
 *
 * @param pools of campaigns and rains, by packet
 * @param balances of wallets in CNY, by user
 * @param plays by user: awards and returned costs less costs, in CNY
 */
public record Rows(
        List<Packet> packets,
        List<Claim> claims,
        Map<String, Pool> pools,
        List<Command> commands,
        Map<String, Long> balances,
        Map<String, Long> plays) {
    /** @param refund minor units that went back to the sender; 0 while it is open */
    public record Packet(String id, String sender, long refund, boolean closed) {}

    /**
     * The campaign of a packet.
     *
     * @param limit most shares of one user in the whole campaign
     * @param isDrop of a rain: the outbox has no event of it before its first claim
     */
    public record Pool(String campaign, int limit, boolean isDrop) {}

    /** A settled claim. */
    public record Claim(String packet, String user, int slot, long amount) {}

    /** @param id its subject: of a send the packet's id */
    public record Command(String operation, String key, String id, long amount) {}
}
