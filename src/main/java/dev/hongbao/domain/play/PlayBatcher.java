package dev.hongbao.domain.play;

import dev.hongbao.common.json.Text;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.DrawKeys;
import dev.hongbao.domain.odds.DrawMode;
import dev.hongbao.domain.odds.SeededChance;
import dev.hongbao.engine.journal.AttemptSettings;
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
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Batches requests into calls of {@code play.lua}, with their random numbers. One instance per event loop, used on it only. */
final class PlayBatcher {
    /**
     * Random numbers of a play in its first call. A play uses one. It needs another one if that is rejected, once in 4,500 times at most.
     * So a call with 256 plays has too few once in 80,000 times.
     */
    private static final int NUMBERS = 2;

    /** For a scheduled play, whose prize depends on the time only. */
    private static final byte[] NO_NUMBERS = MessagePack.numbers(new long[0]);

    /** An empty answer means that a play of the call had too few random numbers. Nothing changed. */
    private final ScriptBatcher<Submission, Optional<Answer>> batcher;

    private final AttemptSettings settings;
    private final Clock clock;
    private final int numbers;

    PlayBatcher(
            Vertx vertx, RedisLinks redis, Shards shards, AttemptSettings settings, PlayMetrics metrics, Clock clock) {
        this(vertx, redis, shards, settings, metrics, clock, NUMBERS);
    }

    /** @param numbers of a play in its first call, 0 or more */
    PlayBatcher(
            Vertx vertx,
            RedisLinks redis,
            Shards shards,
            AttemptSettings settings,
            PlayMetrics metrics,
            Clock clock,
            int numbers) {
        this.numbers = numbers;
        this.settings = settings;
        this.clock = clock;
        this.batcher = new ScriptBatcher<>(
                vertx,
                redis,
                shards,
                new ScriptBatcher.Settings<>(
                        Text.of("noun.plays"),
                        settings.batchSize(),
                        submission -> submission.request.plays(),
                        settings.maxQueued(),
                        metrics::batch),
                PlayScriptCall::new);
    }

    /** The script's result for one request. */
    enum Verdict {
        PLAYED,
        /** The attempt was decided before. Postgres has its result, or will have it. */
        DECIDED,
        REFUSED,
        /** Redis lacks the draw. */
        MISSING
    }

    /**
     * The script's answer.
     *
     * @param refusal when REFUSED, else null
     * @param generation of the script
     */
    record Answer(Verdict verdict, @Nullable PlayRefusal refusal, Generation generation) {
        static Answer of(String word, Generation generation) {
            PlayRefusal refusal = PlayRefusal.of(word);
            Verdict verdict = switch (word) {
                case "+" -> Verdict.PLAYED;
                case "=" -> Verdict.DECIDED;
                default -> refusal == null ? Verdict.MISSING : Verdict.REFUSED;
            };
            return new Answer(verdict, refusal, generation);
        }
    }

    /** @param numbers of each play */
    private record Submission(Draw draw, PlayRequest request, UUID attempt, int numbers) {
        Submission withMoreNumbers() {
            return new Submission(draw, request, attempt, 4 * numbers + NUMBERS);
        }
    }

    /**
     * Puts a request into the next batch; see {@link ScriptBatcher#submit}.
     *
     * @param generation the latest one before Postgres was read; earlier generations' decisions are settled, and were in that read
     */
    Future<Answer> submit(Draw draw, PlayRequest request, UUID attempt, Generation generation, long deadlineNanos) {
        return submit(new Submission(draw, request, attempt, numbers), generation, deadlineNanos);
    }

    private Future<Answer> submit(Submission tried, Generation generation, long deadlineNanos) {
        return batcher.submit(tried.draw.shard(), tried, generation, deadlineNanos)
                .compose(answer -> answer.map(Future::succeededFuture)
                        .orElseGet(() -> submit(tried.withMoreNumbers(), generation, deadlineNanos)));
    }

    int waiting() {
        return batcher.waiting();
    }

    /** As {@link ScriptBatcher#isUnanswered}. */
    boolean isUnanswered() {
        return batcher.isUnanswered();
    }

    /** One call for requests on any draws of a shard. */
    private final class PlayScriptCall implements ShardScript.Call<List<Optional<Answer>>> {
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
            call.arg(settings.maxJournalEntries()).arg(now.toEpochMilli());
            byDraw.forEach((id, places) -> {
                Draw draw = submissions.get(places.get(0)).draw;
                SeededChance chance = draw.definition().mode() == DrawMode.SCHEDULE
                        ? null
                        : draw.chance().seed().chance();
                call.arg(id.toString()).arg(draw.definition().dayOf(now)).arg(places.size());
                for (int place : places) {
                    Submission submission = submissions.get(place);
                    call.arg(submission.request.id().toString())
                            .arg(submission.attempt.toString())
                            .arg(submission.request.user().inRedis())
                            .arg(submission.request.plays())
                            .arg(draw.definition().cost() == null ? 0 : 1)
                            .arg(Buffer.buffer(chance == null ? NO_NUMBERS : numbers(chance, submission)));
                }
            });
        }

        private static byte[] numbers(SeededChance chance, Submission submission) {
            long[] numbers = new long[submission.request.plays() * submission.numbers];
            for (int i = 0; i < numbers.length; i++) {
                if (i % submission.numbers == 0) {
                    chance.beginPlay(submission.request.id(), i / submission.numbers);
                }
                numbers[i] = chance.next();
            }
            return MessagePack.numbers(numbers);
        }

        @Override
        public ShardScript.Reply<List<Optional<Answer>>> read(Generation generation, Response reply) {
            String[] outcomes = reply.get(1).toString().split(" ");
            List<Optional<Answer>> answers = new ArrayList<>(Collections.nCopies(submissions.size(), Optional.empty()));
            int next = 0;
            for (List<Integer> places : byDraw.values()) {
                for (int place : places) {
                    String outcome = outcomes[next++];
                    if (!outcome.equals("?")) {
                        answers.set(place, Optional.of(Answer.of(outcome, generation)));
                    }
                }
            }
            List<DecidedPlayRequest> decided = DecidedPlayRequest.decodeAll(reply.get(2));
            return new ShardScript.Reply<>(answers, decided, List.of());
        }
    }
}
