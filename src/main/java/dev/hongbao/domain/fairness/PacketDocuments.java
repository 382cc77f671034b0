package dev.hongbao.domain.fairness;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.fairness.PacketEvidence.End;
import dev.hongbao.domain.fairness.PacketEvidence.Share;
import dev.hongbao.domain.fairness.PacketEvidence.Terms;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.split.SplitAlgorithm;
import dev.hongbao.domain.split.SplitTerms;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Reads a packet's view and all pages of its claims. Ignores other fields. */
final class PacketDocuments {
    private final Fields packet;
    private final Terms terms;

    private PacketDocuments(Fields packet) {
        this.packet = packet;
        this.terms = terms(packet);
    }

    /** @throws InvalidInputException when it cannot be checked */
    static PacketEvidence read(JsonObject packet, List<JsonObject> pages) {
        return new PacketDocuments(new Fields("#packet", packet))
                .evidence(
                        pages.stream().map(page -> new Fields("#claims", page)).toList());
    }

    private PacketEvidence evidence(List<Fields> pages) {
        String seed = packet.seed("packet", "no share can be claimed any more");
        if (pages.get(pages.size() - 1).textOrNull("next") != null) {
            throw InvalidInputException.of(
                    "#claims/next", Text.plain("must be null: pages are missing, get them with `cursor`"));
        }
        List<Share> shares = new ArrayList<>();
        for (Fields page : pages) {
            page.objects("items").forEach(item -> shares.add(share(item)));
        }
        return new PacketEvidence(terms, seed, end(), shares);
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

    private End end() {
        Fields claimed = packet.object("claimed");
        Fields luckiest = packet.objectOrNull("luckiest");
        return new End(
                packet.text("status").equals("drained"),
                claimed.integer("count"),
                claimed.number("amount"),
                luckiest == null ? null : luckiest.integer("slot"));
    }

    private Share share(Fields claim) {
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
}
