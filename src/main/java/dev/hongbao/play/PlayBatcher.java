package dev.hongbao.play;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.DrawId;
import dev.hongbao.journal.Generation;
import dev.hongbao.journal.ScriptBatcher;
import dev.hongbao.journal.Shards;
import dev.hongbao.odds.SecureChance;
import dev.hongbao.redis.MessagePack;
import dev.hongbao.redis.RedisLink;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/** Turns in calls of {@code play.lua}, with the chance that decides them. One instance per event loop, used on it only. */
final class PlayBatcher {
    /** Numbers beyond one a play: so many are thrown away in one call less than once in 10^30 calls. */
    private static final int SPARE_NUMBERS = 10;

    private final ScriptBatcher<Wish, Answer> batcher;
    private final PlaySettings settings;
    private final Clock clock;
    private final SecureChance chance = new SecureChance();

    PlayBatcher(Vertx vertx, RedisLink redis, Shards shards, PlaySettings settings, PlayMetrics metrics, Clock clock) {
        this.settings = settings;
        this.clock = clock;
        this.batcher = new ScriptBatcher<>(
                vertx,
                redis,
                shards,
                new ScriptBatcher.Settings<>(
                        "plays", settings.batchSize(), wish -> wish.turn.plays(), settings.maxQueued(), metrics::batch),
                Call::new);
    }

    /** What the script said to one turn. */
    enum Verdict {
        PLAYED,
        /** The ticket was decided before: what became of it is in Postgres, or will be. */
        DECIDED,
        LIMIT,
        DAILY_LIMIT,
        EXHAUSTED,
        CLOSED,
        /** Redis does not have the draw. */
        MISSING
    }

    /** The script's answer. @param generation in which it was said */
    record Answer(Verdict verdict, Generation generation) {}

    private record Wish(Draw draw, Turn turn, UUID ticket) {}

    /** Puts a turn into the next batch; see {@link ScriptBatcher#submit}. */
    Future<Answer> submit(Draw draw, Turn turn, UUID ticket, long deadlineNanos) {
        return batcher.submit(draw.shard(), new Wish(draw, turn, ticket), deadlineNanos);
    }

    int waiting() {
        return batcher.waiting();
    }

    /** One call for turns on any draws of a shard. */
    private final class Call implements ScriptBatcher.Call<Answer> {
        private final List<Wish> wishes;
        private final Map<DrawId, List<Integer>> byDraw = new LinkedHashMap<>();

        Call(List<Wish> wishes) {
            this.wishes = wishes;
            for (int i = 0; i < wishes.size(); i++) {
                byDraw.computeIfAbsent(wishes.get(i).draw.id(), id -> new ArrayList<>())
                        .add(i);
            }
        }

        @Override
        public Request request(Shards.Shard current) {
            Generation generation = current.generation();
            Instant now = clock.instant();
            Request call = Request.cmd(Command.EVALSHA)
                    .arg(current.script("play").sha())
                    .arg(2 + 2 * byDraw.size())
                    .arg(generation.journalKey())
                    .arg(generation.ticketsKey());
            for (DrawId id : byDraw.keySet()) {
                call.arg(generation.drawKey(id.toString())).arg(generation.scheduleKey(id.toString()));
            }
            call.arg(settings.maxJournalEntries()).arg(now.toEpochMilli()).arg(Buffer.buffer(numbers()));
            byDraw.forEach((id, places) -> {
                Draw draw = wishes.get(places.get(0)).draw;
                call.arg(id.toString()).arg(draw.definition().dayOf(now)).arg(places.size());
                for (int place : places) {
                    Wish wish = wishes.get(place);
                    call.arg(wish.turn.id().toString())
                            .arg(wish.ticket.toString())
                            .arg(wish.turn.user().value())
                            .arg(wish.turn.plays())
                            .arg(draw.definition().cost() == null ? 0 : 1);
                }
            });
            return call;
        }

        private byte[] numbers() {
            int plays = wishes.stream().mapToInt(wish -> wish.turn.plays()).sum();
            long[] numbers = new long[plays + SPARE_NUMBERS];
            Arrays.setAll(numbers, i -> chance.next());
            return MessagePack.numbers(numbers);
        }

        @Override
        public ScriptBatcher.Reply<Answer> read(Generation generation, Response reply) {
            String[] outcomes = reply.get(1).toString().split(" ");
            Answer[] answers = new Answer[wishes.size()];
            int next = 0;
            for (List<Integer> places : byDraw.values()) {
                for (int place : places) {
                    answers[place] = new Answer(verdict(outcomes[next++]), generation);
                }
            }
            List<DecidedTurn> decided = new ArrayList<>();
            for (Response item : reply.get(2)) {
                decided.add(Objects.requireNonNull(DecidedTurn.decode(item.toString())));
            }
            long seq = decided.isEmpty() ? 0 : Long.parseLong(reply.get(0).toString());
            return new ScriptBatcher.Reply<>(Arrays.asList(answers), seq, DecidedTurn.VERB, decided);
        }

        private static Verdict verdict(String outcome) {
            return switch (outcome) {
                case "+" -> Verdict.PLAYED;
                case "=" -> Verdict.DECIDED;
                case "limit" -> Verdict.LIMIT;
                case "day" -> Verdict.DAILY_LIMIT;
                case "exhausted" -> Verdict.EXHAUSTED;
                case "closed" -> Verdict.CLOSED;
                default -> Verdict.MISSING;
            };
        }
    }
}
