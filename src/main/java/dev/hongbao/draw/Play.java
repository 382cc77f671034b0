package dev.hongbao.draw;

import dev.hongbao.draw.odds.Prize;
import dev.hongbao.engine.CursorMoves;
import dev.hongbao.engine.Settlements;
import dev.hongbao.engine.Settlements.SettledFacts;
import dev.hongbao.engine.Wire.WireReader;
import dev.hongbao.engine.Wire.WireWriter;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.Reason;
import dev.hongbao.values.UserId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A user's settled play.
 *
 * @param seq its number in the draw, from 0
 * @param number the prize's number, from 1
 * @param code the winner's code; null for a prize without codes
 * @param at the time of the decision
 */
public record Play(
        DrawId draw,
        long seq,
        UserId user,
        int number,
        Prize prize,
        @Nullable String code,
        Instant at) {

    /**
     * The requests of one committed settlement, for {@link dev.hongbao.engine.Settlements}. Immutable.
     *
     * @param moves of the cursors of their shards; empty for another server's settlement
     */
    public record SettledPlays(List<Request> requests, List<CursorMoves.Move> moves) {
        public SettledPlays {
            requests = List.copyOf(requests);
            moves = List.copyOf(moves);
        }

        /**
         * A request's committed result. Immutable.
         *
         * @param request its id
         * @param attempt the decided attempt
         * @param plays in order; empty when the cost was returned
         * @param reason of the return; null for plays
         */
        public record Request(
                UUID request,
                UUID attempt,
                DrawId draw,
                UserId user,
                List<Play> plays,
                @Nullable String reason) {
            public Request {
                plays = List.copyOf(plays);
            }
        }

        /**
         * Sends settled plays to other servers. They answer requests waiting there, and notify players' sockets. A server with a waiting request
         * has its draw in memory; other draws are looked up.
         */
        public static final class Wire implements SettledFacts<SettledPlays> {
            private static final Logger LOG = LoggerFactory.getLogger(Wire.class);

            private final DrawCatalog catalog;
            private final Settlements<SettledPlays> settlements;

            public Wire(DrawCatalog catalog, Settlements<SettledPlays> settlements) {
                this.catalog = catalog;
                this.settlements = settlements;
            }

            @Override
            public int kind() {
                return 17;
            }

            @Override
            public Settlements<SettledPlays> settlements() {
                return settlements;
            }

            @Override
            public List<CursorMoves.Move> moves(SettledPlays settled) {
                return settled.moves();
            }

            @Override
            public void write(SettledPlays settled, WireWriter to) {
                to.number(settled.requests().size());
                for (Request request : settled.requests()) {
                    to.uuid(request.request())
                            .uuid(request.attempt())
                            .uuid(request.draw().value())
                            .text(request.user().value());
                    writeOptional(request.reason(), to);
                    to.number(request.plays().size());
                    for (Play play : request.plays()) {
                        to.number(play.seq()).number(play.number());
                        writeOptional(play.code(), to);
                        to.instant(play.at());
                    }
                }
            }

            @Override
            public void heard(WireReader from) {
                List<Told> known = new ArrayList<>();
                List<Told> unknown = new ArrayList<>();
                Map<DrawId, Draw> cached = new HashMap<>();
                for (int left = from.count(); left > 0; left--) {
                    Told told = read(from);
                    Draw draw = catalog.cached(told.draw());
                    if (draw == null) {
                        unknown.add(told);
                    } else {
                        known.add(told);
                        cached.put(told.draw(), draw);
                    }
                }
                SettledPlays told = settled(known, cached);
                settlements.toWaiters().tell(told);
                settlements.toListeners().tell(told);
                if (!unknown.isEmpty()) {
                    catalog.findAll(unknown.stream().map(Told::draw).collect(Collectors.toSet()))
                            .onSuccess(found -> settlements.toListeners().tell(settled(unknown, found)))
                            .onFailure(fault ->
                                    LOG.debug("another server's plays are not passed on: {}", fault.toString()));
                }
            }

            /** Another server's message about a request, without the facts of the draw's definition. */
            private record Told(
                    UUID request,
                    UUID attempt,
                    DrawId draw,
                    UserId user,
                    List<ToldPlay> plays,
                    @Nullable String reason) {
                Request of(Draw known) {
                    return new Request(
                            request,
                            attempt,
                            draw,
                            user,
                            plays.stream().map(play -> play.of(known, user)).toList(),
                            reason);
                }
            }

            private record ToldPlay(
                    long seq, int number, @Nullable String code, Instant at) {
                Play of(Draw draw, UserId user) {
                    return new Play(draw.id(), seq, user, number, draw.prize(number), code, at);
                }
            }

            private static Told read(WireReader from) {
                UUID request = from.uuid();
                UUID attempt = from.uuid();
                DrawId draw = new DrawId(from.uuid());
                UserId user = new UserId(from.text());
                String reason = readOptional(from);
                List<ToldPlay> plays = new ArrayList<>();
                for (int left = from.count(); left > 0; left--) {
                    plays.add(new ToldPlay(from.longNumber(), from.number(), readOptional(from), from.instant()));
                }
                return new Told(request, attempt, draw, user, plays, reason);
            }

            /** The settled requests, without requests of draws that cannot be found. */
            private static SettledPlays settled(List<Told> all, Map<DrawId, Draw> draws) {
                List<Request> requests = new ArrayList<>(all.size());
                for (Told told : all) {
                    Draw draw = draws.get(told.draw());
                    if (draw != null) {
                        requests.add(told.of(draw));
                    }
                }
                return new SettledPlays(requests, List.of());
            }

            private static void writeOptional(@Nullable String text, WireWriter to) {
                to.number(text == null ? 0 : 1);
                if (text != null) {
                    to.text(text);
                }
            }

            private static @Nullable String readOptional(WireReader from) {
                return from.number() == 0 ? null : from.text();
            }
        }
    }

    /**
     * The outcome of a request to play: a closed set. A refusal changed nothing, and a held cost is back in the wallet. A store's fault is a
     * failed future instead.
     *
     * @param plays in order, for the kinds that have them; empty for a refusal
     * @param reason the cause of NOT_ELIGIBLE; null for the other kinds
     */
    public record PlayOutcome(
            Kind kind, List<Play> plays, @Nullable Reason reason) {

        public enum Kind {
            /** Played now, and settled. */
            PLAYED,
            /** Played before under the same key. The plays are the first ones. */
            ALREADY_PLAYED,
            /** No prize is left for the user, or fewer than the plays asked for. */
            EXHAUSTED,
            /** The user has used all plays, or has fewer left than asked for. */
            LIMIT_REACHED,
            /** The user has used all plays of the day, or has fewer left than asked for. */
            DAILY_LIMIT_REACHED,
            /** The draw opens later. */
            NOT_OPEN_YET,
            /** The draw is over. */
            CLOSED,
            /** Not a member of the group, not on the allow list, or on the deny list. */
            NOT_ELIGIBLE,
            /** The draw does not exist. */
            NOT_FOUND;

            /** The refusal by its word in Postgres, the script and the journal; null for another word. */
            static @Nullable Kind ofWord(String word) {
                return switch (word) {
                    case "limit" -> LIMIT_REACHED;
                    case "day" -> DAILY_LIMIT_REACHED;
                    case "exhausted" -> EXHAUSTED;
                    case "closed" -> CLOSED;
                    default -> null;
                };
            }
        }

        public PlayOutcome {
            plays = List.copyOf(plays);
            boolean played = kind == Kind.PLAYED || kind == Kind.ALREADY_PLAYED;
            if (played == plays.isEmpty()) {
                throw new IllegalArgumentException(kind + (played ? " needs plays" : " has no plays"));
            }
        }

        /** An outcome without a reason. */
        public PlayOutcome(Kind kind, List<Play> plays) {
            this(kind, plays, null);
        }

        public static PlayOutcome refused(Kind kind) {
            return new PlayOutcome(kind, List.of());
        }
    }
}
