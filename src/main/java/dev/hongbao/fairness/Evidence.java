package dev.hongbao.fairness;

import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.StrictJson;
import dev.hongbao.values.Text;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads evidence from the API's answers, one JSON object after another: a packet's view and all pages of its claims, a draw's view for the
 * service role and the lines of its export, or a rain's view. Plays are checked while they are read, so an export may have any length.
 */
public final class Evidence {
    /** The most pages of claims: a packet has no more, with at least one claim a page. */
    private static final int MAX_PAGES = SplitTerms.MAX_COUNT;

    private final List<JsonObject> pages = new ArrayList<>();
    private long claims;
    private @Nullable JsonObject packet;
    private @Nullable DrawReplay draw;
    private @Nullable RainEvidence rain;

    private Evidence() {}

    /**
     * The proof in these documents.
     *
     * @param utf8 is not closed
     * @throws InvalidInputException with the place, when it cannot be checked: a document or a field is missing, malformed or of an unknown
     *     version; the packet, draw or rain is not closed yet; or pages of claims are missing
     * @throws IOException when it cannot be read
     */
    public static Proof read(InputStream utf8) throws IOException {
        Evidence evidence = new Evidence();
        StrictJson.FOREIGN.each(utf8, evidence::add);
        return evidence.proof();
    }

    private void add(JsonObject document) {
        if (document.getValue("items") instanceof JsonArray items) {
            claims += items.size();
            if (pages.size() == MAX_PAGES || claims > SplitTerms.MAX_COUNT) {
                throw InvalidInputException.of("#claims", Text.plain("are more than a packet has shares"));
            }
            pages.add(document);
        } else if (document.containsKey("turn") || document.containsKey("planned")) {
            if (draw == null) {
                throw InvalidInputException.of("#", Text.plain("must hold a draw before its plays"));
            }
            if (document.containsKey("turn")) {
                draw.play(document);
            } else {
                draw.period(document);
            }
        } else if (packet != null || draw != null || rain != null) {
            throw InvalidInputException.of("#", Text.plain("must be about one packet, one draw or one rain, not two"));
        } else if (RainEvidence.isRain(document)) {
            rain = RainEvidence.read(document);
        } else if (document.containsKey("mode")) {
            draw = DrawReplay.of(document);
        } else {
            packet = document;
        }
    }

    private Proof proof() {
        if (draw != null && pages.isEmpty()) {
            draw.end();
            return draw;
        }
        if (rain != null && pages.isEmpty()) {
            return rain;
        }
        if (packet == null || pages.isEmpty()) {
            throw InvalidInputException.of(
                    "#",
                    Text.plain("must hold a packet as `GET /v1/packets/{packet}` answers it, and after it the pages of"
                            + " `GET /v1/packets/{packet}/claims`; there is no "
                            + (packet == null ? "packet" : "page of claims")));
        }
        return PacketEvidence.read(packet, pages);
    }

    /** A check of a finished packet, draw or rain: its published facts, recomputed. */
    public interface Proof {
        /** A line that names the packet, draw or rain. */
        String subject();

        /** The commitment in the evidence: 64 hexadecimal digits. It must equal the one published before. */
        String commitment();

        /** Contradictions to the seed, to the terms or among the facts, each a sentence; empty when there are none. */
        List<String> contradictions();

        /** The facts that are proven without a contradiction, each a sentence. */
        List<String> shown();
    }
}
