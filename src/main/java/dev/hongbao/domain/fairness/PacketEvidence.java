package dev.hongbao.domain.fairness;

import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.split.Split;
import dev.hongbao.domain.split.SplitTerms;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A server's statements about a closed packet. Anyone can compute whether the seed gives them. Immutable.
 *
 * @param terms of the commitment, and its digest
 * @param seed 64 hexadecimal digits
 * @param end the packet's result
 * @param claims all claims, in no order
 */
public record PacketEvidence(Terms terms, String seed, End end, List<Share> claims) implements Proof {
    /** A packet as it was sent. */
    public record Terms(UUID packet, Asset asset, SplitTerms split, Commitment commitment) {}

    /**
     * A packet as it ended.
     *
     * @param drained whether every share was claimed
     * @param claimedAmount minor units
     * @param luckiest the slot of the largest share; null unless it is drained
     */
    public record End(
            boolean drained,
            int claimedCount,
            long claimedAmount,
            @Nullable Integer luckiest) {}

    /**
     * A claimed share.
     *
     * @param amount minor units
     */
    public record Share(int slot, String user, long amount) {}

    public PacketEvidence {
        claims = List.copyOf(claims);
    }

    @Override
    public String subject() {
        SplitTerms split = terms.split;
        return "packet " + terms.packet + ": " + split.total() + " " + terms.asset + " in " + split.count()
                + " shares of " + split.min() + " to " + split.max() + ", "
                + split.algorithm().wireName();
    }

    @Override
    public String commitment() {
        return terms.commitment.digest();
    }

    @Override
    public List<String> shown() {
        return List.of(
                "the commitment is the SHA-256 of these terms and the seed",
                "the seed gives the amounts of all " + claims.size() + " shares that were claimed");
    }

    @Override
    public List<String> contradictions() {
        byte[] bytes = HexFormat.of().parseHex(seed);
        List<String> found = new ArrayList<>();
        String digest =
                Commitment.of(terms.packet, terms.asset, terms.split, bytes).digest();
        if (!digest.equals(terms.commitment.digest())) {
            found.add("the commitment is " + terms.commitment.digest() + ", the seed and the terms give " + digest);
        }
        long[] amounts = Split.amounts(terms.split, bytes);
        long claimed = shares(amounts, found);
        if (end.claimedCount != claims.size() || end.claimedAmount != claimed) {
            found.add("claimed are " + end.claimedCount + " shares of " + end.claimedAmount + " in all, listed "
                    + claims.size() + " of " + claimed);
        }
        if (end.drained != (end.claimedCount == terms.split.count())) {
            found.add(end.claimedCount + " of " + terms.split.count() + " shares are claimed, and the packet is "
                    + (end.drained ? "drained" : "not drained"));
        }
        int luckiest = Split.luckiest(amounts);
        if (end.drained ? end.luckiest == null || end.luckiest != luckiest : end.luckiest != null) {
            found.add("the luckiest is " + (end.luckiest == null ? "nobody" : "slot " + end.luckiest)
                    + ", the seed gives " + (end.drained ? "slot " + luckiest : "nobody, since shares are left"));
        }
        return found;
    }

    /** The sum of the claims. */
    private long shares(long[] amounts, List<String> found) {
        Set<Integer> slots = new HashSet<>();
        Set<String> users = new HashSet<>();
        long claimed = 0;
        for (Share share : claims) {
            claimed += share.amount;
            if (share.slot >= Math.min(claims.size(), amounts.length) || !slots.add(share.slot)) {
                // Slots are given from 0 on, without gaps.
                found.add("slot " + share.slot + " is not in the packet, or claimed twice, or after an unclaimed slot");
            } else if (!users.add(share.user)) {
                found.add(share.user + " has two shares");
            } else if (share.amount != amounts[share.slot]) {
                found.add("slot " + share.slot + " gave " + share.amount + ", the seed gives " + amounts[share.slot]);
            }
        }
        return claimed;
    }
}
