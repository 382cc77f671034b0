package dev.hongbao.draw;

import dev.hongbao.draw.Play.SettledPlays;
import dev.hongbao.engine.CursorMoves;
import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.engine.Settlements;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.DrawId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles decided requests: plays, awards, codes and returned costs, in one statement for the batch. */
final class PlaySettler implements Settler {
    private static final Logger LOG = LoggerFactory.getLogger(PlaySettler.class);

    private static final String SETTLE = "select settled_at, void, codes from settle_plays("
            + "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)";

    private final DrawCatalog catalog;
    private final Settlements<SettledPlays> settlements;

    public PlaySettler(DrawCatalog catalog, Settlements<SettledPlays> settlements) {
        this.catalog = catalog;
        this.settlements = settlements;
    }

    @Override
    public JournalItem.Format format() {
        return DecidedPlayRequest.FORMAT;
    }

    @Override
    public Future<Settlement> prepare(List<JournalItem> items) {
        Set<DrawId> ids = new LinkedHashSet<>();
        List<DecidedPlayRequest> requests = new ArrayList<>();
        for (JournalItem item : items) {
            requests.add((DecidedPlayRequest) item);
            ids.add(((DecidedPlayRequest) item).draw());
        }
        return catalog.findAll(ids)
                .map(draws -> (writer, moves) -> moves.send(writer, SETTLE, parameters(moves, requests))
                        .map(rows -> committed(
                                draws, requests, moves, rows.iterator().next())));
    }

    private static Tuple parameters(CursorMoves moves, List<DecidedPlayRequest> requests) {
        Map<DrawId, Integer> places = new LinkedHashMap<>();
        Integer[] inDraws = new Integer[requests.size()];
        List<Integer> inRequests = new ArrayList<>();
        List<Short> parts = new ArrayList<>();
        List<DecidedPlayRequest.Won> prizes = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            inDraws[i] = places.computeIfAbsent(requests.get(i).draw(), draw -> places.size() + 1);
            List<DecidedPlayRequest.Won> won = requests.get(i).prizes();
            for (int k = 0; k < won.size(); k++) {
                inRequests.add(i + 1);
                parts.add((short) k);
                prizes.add(won.get(k));
            }
        }
        return moves.toTuple()
                .addArrayOfUUID(Rows.column(places.keySet(), UUID[]::new, DrawId::value))
                .addArrayOfInteger(inDraws)
                .addArrayOfUUID(Rows.column(requests, UUID[]::new, DecidedPlayRequest::request))
                .addArrayOfString(Rows.texts(requests, request -> request.user().value()))
                .addArrayOfUUID(Rows.column(requests, UUID[]::new, DecidedPlayRequest::attempt))
                .addArrayOfOffsetDateTime(Rows.column(
                        requests,
                        OffsetDateTime[]::new,
                        request -> Instant.ofEpochMilli(request.atMillis()).atOffset(ZoneOffset.UTC)))
                .addArrayOfLong(Rows.column(requests, Long[]::new, DecidedPlayRequest::firstSeq))
                .addArrayOfString(Rows.texts(requests, DecidedPlayRequest::counters))
                .addArrayOfInteger(Rows.column(requests, Integer[]::new, DecidedPlayRequest::loaded))
                .addArrayOfString(Rows.texts(requests, DecidedPlayRequest::reason))
                .addArrayOfInteger(inRequests.toArray(Integer[]::new))
                .addArrayOfShort(parts.toArray(Short[]::new))
                .addArrayOfShort(Rows.column(prizes, Short[]::new, won -> (short) won.number()))
                .addArrayOfLong(Rows.column(prizes, Long[]::new, DecidedPlayRequest.Won::round))
                .addArrayOfInteger(Rows.column(prizes, Integer[]::new, DecidedPlayRequest.Won::period))
                .addArrayOfInteger(Rows.column(prizes, Integer[]::new, DecidedPlayRequest.Won::release));
    }

    private int committed(Map<DrawId, Draw> draws, List<DecidedPlayRequest> requests, CursorMoves moves, Row row) {
        Set<Integer> voids =
                new LinkedHashSet<>(Stream.of(row.getArrayOfIntegers("void")).toList());
        String[] codes = row.getArrayOfStrings("codes");
        List<SettledPlays.Request> settled = new ArrayList<>(requests.size());
        int next = 0;
        for (int i = 0; i < requests.size(); i++) {
            DecidedPlayRequest request = requests.get(i);
            int first = next;
            next += request.prizes().size();
            Draw draw = draws.get(request.draw());
            if (draw == null) {
                continue; // its definition cannot be read: the request is settled, and its players read the result
                // later
            }
            if (voids.contains(i + 1)) {
                LOG.error(
                        "decided request {} of draw {} is void: it contradicts what is settled, or its time has not come",
                        request.request(),
                        request.draw());
                continue;
            }
            settled.add(new SettledPlays.Request(
                    request.request(),
                    request.attempt(),
                    request.draw(),
                    request.user(),
                    plays(draw, request, codes, first),
                    request.reason()));
        }
        if (!moves.isNone()) { // else the transaction is still open, and may roll back
            settlements.here().tell(new SettledPlays(settled, moves.moves()));
        }
        return voids.size();
    }

    private static List<Play> plays(Draw draw, DecidedPlayRequest request, String @Nullable [] codes, int first) {
        List<Play> plays = new ArrayList<>();
        for (int k = 0; k < request.prizes().size(); k++) {
            int number = request.prizes().get(k).number();
            plays.add(new Play(
                    draw.id(),
                    request.firstSeq() + k,
                    request.user(),
                    number,
                    draw.prize(number),
                    codes == null ? null : codes[first + k],
                    Instant.ofEpochMilli(request.atMillis())));
        }
        return plays;
    }
}
