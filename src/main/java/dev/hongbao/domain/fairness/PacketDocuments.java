package dev.hongbao.domain.fairness;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.StrictJson;
import dev.hongbao.common.values.UserId;
import dev.hongbao.common.values.Uuids;
import dev.hongbao.domain.fairness.PacketEvidence.End;
import dev.hongbao.domain.fairness.PacketEvidence.Share;
import dev.hongbao.domain.fairness.PacketEvidence.Terms;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.split.SplitAlgorithm;
import dev.hongbao.domain.split.SplitTerms;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads evidence from what the API answered: a packet's view and all pages of its claims, one JSON object after another, as the
 * calls wrote them. Fields that are not needed are passed over. Every fault is an {@link InvalidInputException} that says where.
 */
public final class PacketDocuments {
    private static final Pattern SEED = Pattern.compile("[0-9a-f]{64}");

    private final Fields packet;
    private final Terms terms;

    private PacketDocuments(Fields packet) {
        this.packet = packet;
        this.terms = terms(packet);
    }

    /**
     * The evidence in these documents.
     *
     * @throws InvalidInputException when it cannot be judged: a document or a field is missing, malformed or of a version that this
     *     program does not know, the packet is not closed yet, or pages of its claims are missing
     */
    public static PacketEvidence read(byte[] utf8) {
        List<Fields> pages = new ArrayList<>();
        Fields packet = null;
        for (JsonObject document : StrictJson.FOREIGN.decodeAll(utf8)) {
            if (document.containsKey("items")) {
                pages.add(new Fields("#claims", document));
            } else if (packet == null) {
                packet = new Fields("#packet", document);
            } else {
                throw InvalidInputException.of("#", "must hold the view of one packet, not of two");
            }
        }
        if (packet == null || pages.isEmpty()) {
            throw InvalidInputException.of(
                    "#",
                    "must hold a packet as `GET /v1/packets/{packet}` answers it, and after it the pages of"
                            + " `GET /v1/packets/{packet}/claims`; there is no "
                            + (packet == null ? "packet" : "page of claims"));
        }
        return new PacketDocuments(packet).evidence(pages);
    }

    private PacketEvidence evidence(List<Fields> pages) {
        String seed = packet.textOrNull("seed");
        if (seed == null) {
            throw packet.fault(
                    "seed", "is null: the packet is not closed. It is told when no share can be claimed any more");
        }
        if (!SEED.matcher(seed).matches()) {
            throw packet.fault("seed", "must be 64 lower-case hexadecimal digits");
        }
        if (pages.get(pages.size() - 1).textOrNull("next") != null) {
            throw InvalidInputException.of("#claims/next", "must be null: pages are missing, get them with `cursor`");
        }
        List<Share> shares = new ArrayList<>();
        for (Fields page : pages) {
            page.objects("items").forEach(item -> shares.add(share(item)));
        }
        return new PacketEvidence(terms, seed, end(), shares);
    }

    private static Terms terms(Fields packet) {
        UUID id = Uuids.parse(packet.text("id"));
        if (id == null) {
            throw packet.fault("id", "must be a UUID");
        }
        SplitAlgorithm algorithm = packet.parsed("split", SplitAlgorithm::of);
        int version = packet.integer("splitVersion");
        if (version != SplitAlgorithm.VERSION) {
            throw packet.fault("splitVersion", "must be " + SplitAlgorithm.VERSION + ": this program knows no other");
        }
        long amount = packet.number("amount");
        int count = packet.integer("count");
        long min = packet.number("min");
        long max = packet.number("max");
        String reason = SplitTerms.infeasible(algorithm, amount, count, min, max);
        if (reason != null) {
            throw InvalidInputException.of("#packet", "cannot be: " + reason);
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
        if (!Objects.equals(Uuids.parse(claim.text("packet")), terms.packet())) {
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

    /** An object and where it is. */
    private record Fields(String place, JsonObject object) {
        InvalidInputException fault(String name, String detail) {
            return InvalidInputException.of(place + "/" + name, detail);
        }

        String text(String name) {
            if (object.getValue(name) instanceof String text) {
                return text;
            }
            throw fault(name, "must be a string");
        }

        @Nullable
        String textOrNull(String name) {
            return object.getValue(name) == null && object.containsKey(name) ? null : text(name);
        }

        long number(String name) {
            if (object.getValue(name) instanceof Long number) {
                return number;
            }
            throw fault(name, "must be a whole number");
        }

        int integer(String name) {
            long number = number(name);
            if (number != (int) number) {
                throw fault(name, "is out of range");
            }
            return (int) number;
        }

        <T> T parsed(String name, Function<String, T> parser) {
            try {
                return parser.apply(text(name));
            } catch (IllegalArgumentException malformed) {
                throw fault(name, "cannot be: " + malformed.getMessage());
            }
        }

        Fields object(String name) {
            Fields found = objectOrNull(name);
            if (found == null) {
                throw fault(name, "must be an object");
            }
            return found;
        }

        @Nullable
        Fields objectOrNull(String name) {
            Object value = object.getValue(name);
            if (value == null && object.containsKey(name)) {
                return null;
            }
            if (value instanceof JsonObject found) {
                return new Fields(place + "/" + name, found);
            }
            throw fault(name, "must be an object");
        }

        List<Fields> objects(String name) {
            if (!(object.getValue(name) instanceof JsonArray items)) {
                throw fault(name, "must be an array");
            }
            List<Fields> all = new ArrayList<>(items.size());
            for (int i = 0; i < items.size(); i++) {
                if (!(items.getValue(i) instanceof JsonObject item)) {
                    throw fault(name + "/" + i, "must be an object");
                }
                all.add(new Fields(place + "/" + name + "/" + i, item));
            }
            return all;
        }
    }
}
