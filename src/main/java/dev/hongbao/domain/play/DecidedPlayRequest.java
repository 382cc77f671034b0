package dev.hongbao.domain.play;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.QuarantineUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A journal item: a request that the script has decided. Either it won prizes, or its cost is to be given back.
 *
 * @param attempt which try of the request it was
 * @param atMillis the time that decided it
 * @param firstSeq the place of its first play in the draw; 0 when refused
 * @param prizes one for each play, in order; empty when refused
 * @param counters the user's counters after it, separated by commas; empty when the draw keeps none
 * @param reason why it is refused; null when it won
 */
record DecidedPlayRequest(
        DrawId draw,
        UUID request,
        UUID attempt,
        UserId user,
        long atMillis,
        long firstSeq,
        List<Won> prizes,
        String counters,
        @Nullable String reason)
        implements JournalItem {
    /** The journal's word for it. */
    static final String VERB = "play";

    DecidedPlayRequest {
        prizes = List.copyOf(prizes);
    }

    /**
     * A prize of a play.
     *
     * @param number from 1
     * @param period of the release it took; null for none
     * @param release its number within the period and prize; null for none
     */
    record Won(
            int number,
            long round,
            @Nullable Integer period,
            @Nullable Integer release) {
        private String word() {
            return number + ":" + round + (period == null ? "" : ":" + period + ":" + release);
        }
    }

    @Override
    public int size() {
        return Math.max(1, prizes.size());
    }

    @Override
    public QuarantineUnit unit() {
        return new QuarantineUnit(QuarantineUnit.Kind.DRAW, draw.value());
    }

    @Override
    public String payload() {
        String whose = draw + " " + request + " " + attempt + " " + user.value() + " " + atMillis;
        if (reason != null) {
            return whose + " ! " + reason;
        }
        return whose + " " + firstSeq + " "
                + prizes.stream().map(Won::word).collect(Collectors.joining(",")) + " "
                + (counters.isEmpty() ? "-" : counters);
    }

    /** Reads what play.lua and return.lua write; null when it is not that. */
    static @Nullable DecidedPlayRequest decode(String payload) {
        String[] words = payload.split(" ", -1);
        DrawId draw = DrawId.parse(words[0]);
        if (draw == null || words.length < 7 || !UserId.isValid(words[3])) {
            return null;
        }
        try {
            UUID request = UUID.fromString(words[1]);
            UUID attempt = UUID.fromString(words[2]);
            UserId user = new UserId(words[3]);
            long at = Long.parseLong(words[4]);
            if (words[5].equals("!")) {
                return new DecidedPlayRequest(draw, request, attempt, user, at, 0, List.of(), "", words[6]);
            }
            if (words.length != 8) {
                return null;
            }
            String counters = words[7].equals("-") ? "" : words[7];
            return new DecidedPlayRequest(
                    draw, request, attempt, user, at, Long.parseLong(words[5]), prizes(words[6]), counters, null);
        } catch (IllegalArgumentException malformed) {
            return null;
        }
    }

    private static List<Won> prizes(String text) {
        List<Won> prizes = new ArrayList<>();
        for (String prize : text.split(",", -1)) {
            String[] parts = prize.split(":", -1);
            if (parts.length != 2 && parts.length != 4) {
                throw new IllegalArgumentException(prize);
            }
            prizes.add(new Won(
                    Integer.parseInt(parts[0]),
                    Long.parseLong(parts[1]),
                    parts.length == 4 ? Integer.valueOf(parts[2]) : null,
                    parts.length == 4 ? Integer.valueOf(parts[3]) : null));
        }
        return prizes;
    }
}
