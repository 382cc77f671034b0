package dev.hongbao.draw;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.UserId;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A journal item: a request decided by the script.
 *
 * @param attempt the request's attempt that was decided
 * @param atMillis the time of the decision
 * @param played the plays that won prizes; null for a refusal, whose cost is returned
 * @param reason of the refusal: a word of {@code play.lua} or {@code return.lua}; null for plays
 */
record DecidedPlayRequest(
        DrawId draw,
        UUID request,
        UUID attempt,
        UserId user,
        long atMillis,
        @Nullable Played played,
        @Nullable String reason)
        implements JournalItem {
    /** As play.lua and return.lua write it. */
    public static final JournalItem.Format FORMAT = new JournalItem.Format("play", DecidedPlayRequest::decode);

    /**
     * The plays of a request.
     *
     * @param firstSeq the number of its first play in the draw
     * @param prizes one for each play, in order
     * @param counters the user's counters afterwards, separated by commas; empty when the draw keeps none
     * @param loaded the last period on the schedule, -1 for none; null without a schedule
     */
    public record Played(
            long firstSeq,
            List<Won> prizes,
            String counters,
            @Nullable Integer loaded) {
        public Played {
            prizes = List.copyOf(prizes);
        }
    }

    /**
     * The prize of a play.
     *
     * @param number from 1
     * @param period of its release; null for none
     * @param release its number within the period and prize; null for none
     */
    public record Won(
            int number,
            long round,
            @Nullable Integer period,
            @Nullable Integer release) {
        private String word() {
            return number + ":" + round + (period == null ? "" : ":" + period + ":" + release);
        }
    }

    @Override
    public String verb() {
        return FORMAT.verb();
    }

    @Override
    public int size() {
        return Math.max(1, prizes().size());
    }

    @Override
    public Quarantine.Unit unit() {
        return Draw.unit(draw);
    }

    @Override
    public String payload() {
        String whose = draw + " " + request + " " + attempt + " " + user.inRedis() + " " + atMillis;
        if (played != null) {
            return whose + " " + played.firstSeq + " "
                    + played.prizes.stream().map(Won::word).collect(Collectors.joining(",")) + " "
                    + (played.counters.isEmpty() ? "-" : played.counters)
                    + (played.loaded == null ? "" : " " + played.loaded);
        }
        return whose + " ! " + reason;
    }

    /** The prizes, one for each play; empty for a refusal. */
    List<Won> prizes() {
        return played != null ? played.prizes : List.of();
    }

    /** The number of its first play in the draw; 0 for a refusal. */
    long firstSeq() {
        return played != null ? played.firstSeq : 0;
    }

    /** The user's counters afterwards; empty for a refusal, or when the draw keeps none. */
    String counters() {
        return played != null ? played.counters : "";
    }

    /** The last period on the schedule; null for a refusal, or without a schedule. */
    @Nullable
    Integer loaded() {
        return played != null ? played.loaded : null;
    }

    static @Nullable DecidedPlayRequest decode(String payload) {
        String[] words = payload.split(" ", -1);
        DrawId draw = DrawId.parse(words[0]);
        UserId user = words.length < 7 ? null : UserId.ofRedis(words[3]);
        if (draw == null || user == null) {
            return null;
        }
        try {
            UUID request = UUID.fromString(words[1]);
            UUID attempt = UUID.fromString(words[2]);
            long at = Long.parseLong(words[4]);
            if (words[5].equals("!")) {
                return new DecidedPlayRequest(draw, request, attempt, user, at, null, words[6]);
            }
            if (words.length != 8 && words.length != 9) {
                return null;
            }
            String counters = words[7].equals("-") ? "" : words[7];
            Integer loaded = words.length == 9 ? Integer.valueOf(words[8]) : null;
            Played played = new Played(Long.parseLong(words[5]), prizes(words[6]), counters, loaded);
            return new DecidedPlayRequest(draw, request, attempt, user, at, played, null);
        } catch (IllegalArgumentException malformed) {
            return null;
        }
    }

    /** Reads the items of the entry that a script wrote and returned. */
    static List<DecidedPlayRequest> decodeAll(Response items) {
        return items.stream()
                .map(item -> Objects.requireNonNull(decode(item.toString())))
                .toList();
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
