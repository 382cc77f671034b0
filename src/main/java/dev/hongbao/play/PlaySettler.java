package dev.hongbao.play;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.DrawCatalog;
import dev.hongbao.draw.DrawId;
import dev.hongbao.draw.Play;
import dev.hongbao.journal.CursorMoves;
import dev.hongbao.journal.JournalItem;
import dev.hongbao.journal.Settler;
import io.vertx.core.Future;
import io.vertx.core.eventbus.EventBus;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles decided turns: plays, awards, codes and returned costs, in one statement for the batch. */
public final class PlaySettler implements Settler {
    private static final Logger LOG = LoggerFactory.getLogger(PlaySettler.class);

    private static final String SETTLE = "select settled_at, void, nths, codes from settle_plays("
            + "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)";

    private final DrawCatalog catalog;
    private final EventBus bus;

    public PlaySettler(DrawCatalog catalog, EventBus bus) {
        this.catalog = catalog;
        this.bus = bus;
    }

    @Override
    public String verb() {
        return DecidedTurn.VERB;
    }

    @Override
    public @Nullable JournalItem decode(String payload) {
        return DecidedTurn.decode(payload);
    }

    @Override
    public Future<Settlement> prepare(List<JournalItem> items) {
        Set<DrawId> ids = new LinkedHashSet<>();
        List<DecidedTurn> turns = new ArrayList<>();
        for (JournalItem item : items) {
            turns.add((DecidedTurn) item);
            ids.add(((DecidedTurn) item).draw());
        }
        return catalog.findAll(ids)
                .map(draws -> (writer, moves) -> moves.send(writer, SETTLE, parameters(moves, turns))
                        .map(rows -> committed(draws, turns, rows.iterator().next())));
    }

    private static Tuple parameters(CursorMoves moves, List<DecidedTurn> turns) {
        List<Integer> playTurns = new ArrayList<>();
        List<Long> seqs = new ArrayList<>();
        List<DecidedTurn.Won> prizes = new ArrayList<>();
        for (int i = 0; i < turns.size(); i++) {
            List<DecidedTurn.Won> won = turns.get(i).prizes();
            for (int k = 0; k < won.size(); k++) {
                playTurns.add(i + 1);
                seqs.add(turns.get(i).firstSeq() + k);
                prizes.add(won.get(k));
            }
        }
        return moves.toTuple()
                .addArrayOfUUID(turns.stream().map(DecidedTurn::turn).toArray(UUID[]::new))
                .addArrayOfUUID(turns.stream().map(turn -> turn.draw().value()).toArray(UUID[]::new))
                .addArrayOfString(
                        turns.stream().map(turn -> turn.user().value()).toArray(String[]::new))
                .addArrayOfUUID(turns.stream().map(DecidedTurn::ticket).toArray(UUID[]::new))
                .addArrayOfOffsetDateTime(turns.stream()
                        .map(turn -> Instant.ofEpochMilli(turn.atMillis()).atOffset(ZoneOffset.UTC))
                        .toArray(OffsetDateTime[]::new))
                .addArrayOfString(turns.stream().map(DecidedTurn::counters).toArray(String[]::new))
                .addArrayOfString(turns.stream().map(DecidedTurn::reason).toArray(String[]::new))
                .addArrayOfInteger(playTurns.toArray(Integer[]::new))
                .addArrayOfLong(seqs.toArray(Long[]::new))
                .addArrayOfShort(
                        prizes.stream().map(won -> (short) won.number()).toArray(Short[]::new))
                .addArrayOfLong(prizes.stream().map(DecidedTurn.Won::round).toArray(Long[]::new))
                .addArrayOfInteger(prizes.stream().map(DecidedTurn.Won::period).toArray(Integer[]::new))
                .addArrayOfInteger(prizes.stream().map(DecidedTurn.Won::release).toArray(Integer[]::new));
    }

    private int committed(Map<DrawId, Draw> draws, List<DecidedTurn> turns, Row row) {
        Set<Integer> voids =
                new LinkedHashSet<>(Stream.of(row.getArrayOfIntegers("void")).toList());
        String[] codes = row.getArrayOfStrings("codes");
        List<SettledTurn> settled = new ArrayList<>(turns.size());
        int next = 0;
        for (int i = 0; i < turns.size(); i++) {
            DecidedTurn turn = turns.get(i);
            int first = next;
            next += turn.prizes().size();
            Draw draw = draws.get(turn.draw());
            if (draw == null) {
                continue; // its definition cannot be read: it is settled, and its players look it up
            }
            if (voids.contains(i + 1)) {
                LOG.error(
                        "decided turn {} of draw {} is void: it contradicts what is settled, or its time has not come",
                        turn.turn(),
                        turn.draw());
                continue;
            }
            settled.add(new SettledTurn(
                    turn.turn(),
                    turn.ticket(),
                    turn.draw(),
                    turn.user(),
                    plays(draw, turn, codes, first),
                    turn.reason()));
        }
        bus.publish(SettledTurns.ADDRESS, new SettledTurns(settled));
        return voids.size();
    }

    private static List<Play> plays(Draw draw, DecidedTurn turn, String @Nullable [] codes, int first) {
        List<Play> plays = new ArrayList<>();
        for (int k = 0; k < turn.prizes().size(); k++) {
            int number = turn.prizes().get(k).number();
            plays.add(new Play(
                    draw.id(),
                    turn.firstSeq() + k,
                    turn.user(),
                    number,
                    draw.prize(number),
                    codes == null ? null : codes[first + k],
                    Instant.ofEpochMilli(turn.atMillis())));
        }
        return plays;
    }
}
