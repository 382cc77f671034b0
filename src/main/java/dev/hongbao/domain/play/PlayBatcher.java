package dev.hongbao.domain.play;

import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.DrawKeys;
import dev.hongbao.domain.odds.SecureChance;
import dev.hongbao.engine.journal.ScriptBatcher;
import dev.hongbao.engine.journal.ShardScript;
import dev.hongbao.engine.redis.MessagePack;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Requests in calls of {@code play.lua}, with the chance that decides them. One instance per event loop, used on it only. */
final class PlayBatcher {
    /** Numbers beyond one a play: so many are thrown away in one call less than once in 10^30 calls. */
    private static final int SPARE_NUMBERS = 10;

    private final ScriptBatcher<Submission, Answer> batcher;
    private final PlaySettings settings;
    private final Clock clock;
    private final SecureChance chance = new SecureChance();

    PlayBatcher(Vertx vertx, RedisLinks redis, Shards shards, PlaySettings settings, PlayMetrics metrics, Clock clock) {
        this.settings = settings;
        this.clock = clock;
        this.batcher = new ScriptBatcher<>(
                vertx,
                redis,
                shards,
                new ScriptBatcher.Settings<>(
                        "plays",
                        settings.batchSize(),
                        submission -> submission.request.plays(),
                        settings.maxQueued(),
                        metrics::batch),
                PlayScriptCall::new);
    }

    /** What the script said to one request. */
    enum Verdict {
        PLAYED,
        /** The attempt was decided before: what became of it is in Postgres, or will be. */
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

    private record Submission(Draw draw, PlayRequest request, UUID attempt) {}

    /**
     * Puts a request into the next batch; see {@link ScriptBatcher#submit}.
     *
     * @param generation the latest when Postgres was asked for the attempt: what earlier ones decided is settled, and was seen there
     */
    Future<Answer> submit(Draw draw, PlayRequest request, UUID attempt, Generation generation, long deadlineNanos) {
        return batcher.submit(draw.shard(), new Submission(draw, request, attempt), generation, deadlineNanos);
    }

    int waiting() {
        return batcher.waiting();
    }

    /** One call for requests on any draws of a shard. */
    private final class PlayScriptCall implements ShardScript.Call<List<Answer>> {
        private final List<Submission> submissions;
        private final Map<DrawId, List<Integer>> byDraw = new LinkedHashMap<>();

        PlayScriptCall(List<Submission> submissions) {
            this.submissions = submissions;
            for (int i = 0; i < submissions.size(); i++) {
                byDraw.computeIfAbsent(submissions.get(i).draw.id(), id -> new ArrayList<>())
                        .add(i);
            }
        }

        @Override
        public String script() {
            return "play";
        }

        @Override
        public int keys() {
            return 1 + 2 * byDraw.size();
        }

        @Override
        public void write(Generation generation, Request call) {
            Instant now = clock.instant();
            call.arg(DrawKeys.attempts(generation));
            for (DrawId id : byDraw.keySet()) {
                call.arg(DrawKeys.hash(generation, id)).arg(DrawKeys.schedule(generation, id));
            }
            call.arg(settings.maxJournalEntries()).arg(now.toEpochMilli()).arg(Buffer.buffer(numbers()));
            byDraw.forEach((id, places) -> {
                Draw draw = submissions.get(places.get(0)).draw;
                call.arg(id.toString()).arg(draw.definition().dayOf(now)).arg(places.size());
                for (int place : places) {
                    Submission submission = submissions.get(place);
                    call.arg(submission.request.id().toString())
                            .arg(submission.attempt.toString())
                            .arg(submission.request.user().value())
                            .arg(submission.request.plays())
                            .arg(draw.definition().cost() == null ? 0 : 1);
                }
            });
        }

        private byte[] numbers() {
            int plays = submissions.stream()
                    .mapToInt(submission -> submission.request.plays())
                    .sum();
            long[] numbers = new long[plays + SPARE_NUMBERS];
            Arrays.setAll(numbers, i -> chance.next());
            return MessagePack.numbers(numbers);
        }

        @Override
        public ShardScript.Reply<List<Answer>> read(Generation generation, Response reply) {
            String[] outcomes = reply.get(1).toString().split(" ");
            Answer[] answers = new Answer[submissions.size()];
            int next = 0;
            for (List<Integer> places : byDraw.values()) {
                for (int place : places) {
                    answers[place] = new Answer(verdict(outcomes[next++]), generation);
                }
            }
            List<DecidedPlayRequest> decided = DecidedPlayRequest.decodeAll(reply.get(2));
            return new ShardScript.Reply<>(Arrays.asList(answers), decided, List.of());
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
