package dev.hongbao.fairness;

import dev.hongbao.packet.Packet.Commitment;
import dev.hongbao.packet.split.Split;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.values.Asset;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
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
 * @param drained whether every share was claimed
 * @param claimedAmount minor units
 * @param luckiest the slot of the largest share; null unless it is drained
 * @param claims all claims, in no order
 */
record PacketEvidence(
        Terms terms,
        String seed,
        boolean drained,
        int claimedCount,
        long claimedAmount,
        @Nullable Integer luckiest,
        List<Share> claims)
        implements Evidence.Proof {
    /** A packet as it was sent. */
    public record Terms(UUID packet, Asset asset, SplitTerms split, Commitment commitment) {}

    /**
     * A claimed share.
     *
     * @param amount minor units
     */
    public record Share(int slot, String user, long amount) {}

    public PacketEvidence {
        claims = List.copyOf(claims);
    }

    /**
     * Reads a packet's view and all pages of its claims. Ignores other fields.
     *
     * @throws InvalidInputException when it cannot be checked
     */
    static PacketEvidence read(JsonObject view, List<JsonObject> documents) {
        Fields packet = new Fields("#packet", view);
        Terms terms = terms(packet);
        List<Fields> pages =
                documents.stream().map(page -> new Fields("#claims", page)).toList();
        String seed = packet.seed("packet", "no share can be claimed any more");
        if (pages.get(pages.size() - 1).textOrNull("next") != null) {
            throw InvalidInputException.of(
                    "#claims/next", Text.plain("must be null: pages are missing, get them with `cursor`"));
        }
        List<Share> shares = new ArrayList<>();
        for (Fields page : pages) {
            page.objects("items").forEach(item -> shares.add(share(item, terms)));
        }
        Fields claimed = packet.object("claimed");
        Fields luckiest = packet.objectOrNull("luckiest");
        return new PacketEvidence(
                terms,
                seed,
                packet.text("status").equals("drained"),
                claimed.integer("count"),
                claimed.number("amount"),
                luckiest == null ? null : luckiest.integer("slot"),
                shares);
    }

    private static Terms terms(Fields packet) {
        UUID id = packet.uuid("id");
        SplitAlgorithm algorithm = packet.parsed("split", SplitAlgorithm::of);
        int version = packet.integer("splitVersion");
        if (version != SplitAlgorithm.VERSION) {
            throw packet.fault("splitVersion", "must be " + SplitAlgorithm.VERSION + ": this program knows no other");
        }
        long amount = packet.number("amount");
        int count = packet.integer("count");
        long min = packet.number("min");
        long max = packet.number("max");
        Text reason = SplitTerms.infeasible(algorithm, amount, count, min, max);
        if (reason != null) {
            throw InvalidInputException.of("#packet", Text.plain("cannot be: " + reason));
        }
        if (max > amount) {
            throw packet.fault("max", "must be at most the amount");
        }
        return new Terms(
                id,
                packet.parsed("asset", Asset::new),
                new SplitTerms(algorithm, amount, count, min, max),
                packet.parsed("commitment", digest -> new Commitment(version, digest)));
    }

    private static Share share(Fields claim, Terms terms) {
        if (!claim.uuid("packet").equals(terms.packet())) {
            throw claim.fault("packet", "must be " + terms.packet() + ": this is a claim on another packet");
        }
        if (!claim.text("asset").equals(terms.asset().code())) {
            throw claim.fault("asset", "must be " + terms.asset());
        }
        int slot = claim.integer("slot");
        long amount = claim.number("amount");
        if (slot < 0 || amount < 0 || amount > SplitTerms.MAX_TOTAL) {
            throw claim.fault(slot < 0 ? "slot" : "amount", "is out of range");
        }
        return new Share(slot, claim.parsed("user", UserId::new).value(), amount);
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
        if (claimedCount != claims.size() || claimedAmount != claimed) {
            found.add("claimed are " + claimedCount + " shares of " + claimedAmount + " in all, listed " + claims.size()
                    + " of " + claimed);
        }
        if (drained != (claimedCount == terms.split.count())) {
            found.add(claimedCount + " of " + terms.split.count() + " shares are claimed, and the packet is "
                    + (drained ? "drained" : "not drained"));
        }
        int largest = Split.luckiest(amounts);
        if (drained ? luckiest == null || luckiest != largest : luckiest != null) {
            found.add("the luckiest is " + (luckiest == null ? "nobody" : "slot " + luckiest) + ", the seed gives "
                    + (drained ? "slot " + largest : "nobody, since shares are left"));
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
