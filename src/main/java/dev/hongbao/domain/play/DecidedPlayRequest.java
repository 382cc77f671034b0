package dev.hongbao.domain.play;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.engine.journal.JournalFormat;
import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.QuarantineUnit;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A journal item: a request that the script has decided.
 *
 * @param attempt which try of the request it was
 * @param atMillis the time that decided it
 */
public record DecidedPlayRequest(DrawId draw, UUID request, UUID attempt, UserId user, long atMillis, Decision decision)
        implements JournalItem {
    /** As play.lua and return.lua write it. */
    public static final JournalFormat FORMAT = new JournalFormat("play", DecidedPlayRequest::decode);

    /** What a request came to. */
    public sealed interface Decision {}

    /**
     * It won prizes.
     *
     * @param firstSeq the place of its first play in the draw
     * @param prizes one for each play, in order
     * @param counters the user's counters after it, separated by commas; empty when the draw keeps none
     * @param loaded the last period that was on the schedule, -1 for none; null without a schedule
     */
    public record Played(
            long firstSeq,
            List<Won> prizes,
            String counters,
            @Nullable Integer loaded) implements Decision {
        public Played {
            prizes = List.copyOf(prizes);
        }
    }

    /** Its cost is to be given back. @param reason why */
    public record Refused(String reason) implements Decision {}

    /**
     * A prize of a play.
     *
     * @param number from 1
     * @param period of the release it took; null for none
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
    public QuarantineUnit unit() {
        return draw.unit();
    }

    @Override
    public String payload() {
        String whose = draw + " " + request + " " + attempt + " " + user.inRedis() + " " + atMillis;
        if (decision instanceof Played played) {
            return whose + " " + played.firstSeq + " "
                    + played.prizes.stream().map(Won::word).collect(Collectors.joining(",")) + " "
                    + (played.counters.isEmpty() ? "-" : played.counters)
                    + (played.loaded == null ? "" : " " + played.loaded);
        }
        return whose + " ! " + reason();
    }

    /** What it won, one prize for each play; empty when it was refused. */
    List<Won> prizes() {
        return decision instanceof Played played ? played.prizes : List.of();
    }

    /** The place of its first play in the draw; 0 when it was refused. */
    long firstSeq() {
        return decision instanceof Played played ? played.firstSeq : 0;
    }

    /** The user's counters after it; empty when it was refused, or the draw keeps none. */
    String counters() {
        return decision instanceof Played played ? played.counters : "";
    }

    /** The last period that was on the schedule; null when it was refused, or without a schedule. */
    @Nullable
    Integer loaded() {
        return decision instanceof Played played ? played.loaded : null;
    }

    /** Why it was refused; null when it won. */
    @Nullable
    String reason() {
        return decision instanceof Refused refused ? refused.reason : null;
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
                return new DecidedPlayRequest(draw, request, attempt, user, at, new Refused(words[6]));
            }
            if (words.length != 8 && words.length != 9) {
                return null;
            }
            String counters = words[7].equals("-") ? "" : words[7];
            Integer loaded = words.length == 9 ? Integer.valueOf(words[8]) : null;
            Played played = new Played(Long.parseLong(words[5]), prizes(words[6]), counters, loaded);
            return new DecidedPlayRequest(draw, request, attempt, user, at, played);
        } catch (IllegalArgumentException malformed) {
            return null;
        }
    }

    /** Reads the items that a script returns of the entry it wrote. */
    static List<DecidedPlayRequest> decodeAll(Response items) {
        List<DecidedPlayRequest> decided = new ArrayList<>();
        for (Response item : items) {
            decided.add(Objects.requireNonNull(decode(item.toString())));
        }
        return decided;
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
