package dev.hongbao.draw;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.ScriptBatcher;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.store.redis.MessagePack;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.Text;
import io.vertx.core.Future;
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
import org.jspecify.annotations.Nullable;

/** Batches requests into calls of {@code play.lua}, with their random numbers. One instance per event loop, used on it only. */
final class PlayBatcher {
    /**
     * Random numbers of a play in its first call. A play uses one. It needs another one if that is rejected, once in 4,500 times at most.
     * So a call with 256 plays has too few once in 80,000 times.
     */
    static final int NUMBERS = 2;

    /** For a scheduled play, whose prize depends on the time only. */
    private static final byte[] NO_NUMBERS = MessagePack.numbers(new long[0]);

    private final ScriptBatcher<Submission, @Nullable Answer> batcher;
    private final int maxJournalEntries;
    private final Clock clock;
    private final int numbers;

    /** @param numbers of a play in its first call, 0 or more */
    PlayBatcher(Attempts attempts, PlayMetrics metrics, int numbers) {
        this.numbers = numbers;
        this.maxJournalEntries = attempts.limits().maxJournalEntries();
        this.clock = attempts.clock();
        this.batcher = new ScriptBatcher<>(
                attempts, Text.of("noun.plays"), metrics.batchSize, each -> new PlayScriptCall(each).call());
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
    record Answer(Verdict verdict, PlayOutcome.@Nullable Kind refusal, Generation generation) {
        static Answer of(String word, Generation generation) {
            PlayOutcome.Kind refusal = PlayOutcome.Kind.ofWord(word);
            Verdict verdict = switch (word) {
                case "+" -> Verdict.PLAYED;
                case "=" -> Verdict.DECIDED;
                default -> refusal == null ? Verdict.MISSING : Verdict.REFUSED;
            };
            return new Answer(verdict, refusal, generation);
        }
    }

    private static final class Submission extends ScriptBatcher.Item<@Nullable Answer> {
        private final Draw draw;
        private final PlayRequest request;
        private final UUID attempt;
        private final int numbers;

        /** @param numbers of each play */
        Submission(
                Draw draw, PlayRequest request, UUID attempt, int numbers, Generation generation, long deadlineNanos) {
            super(generation, deadlineNanos);
            this.draw = draw;
            this.request = request;
            this.attempt = attempt;
            this.numbers = numbers;
        }

        /** With more random numbers. */
        Submission(Submission before) {
            super(before);
            this.draw = before.draw;
            this.request = before.request;
            this.attempt = before.attempt;
            this.numbers = 4 * before.numbers + NUMBERS;
        }

        @Override
        protected int size() {
            return request.plays();
        }
    }

    /**
     * Puts a request into the next batch; see {@link ScriptBatcher#submit}.
     *
     * @param generation the latest one before Postgres was read; earlier generations' decisions are settled, and were in that read
     */
    Future<Answer> submit(Draw draw, PlayRequest request, UUID attempt, Generation generation, long deadlineNanos) {
        return submit(new Submission(draw, request, attempt, numbers, generation, deadlineNanos));
    }

    /** No answer means that a play of the call had too few random numbers. Nothing changed. */
    private Future<Answer> submit(Submission submission) {
        return batcher.submit(submission.draw.shard(), submission)
                .compose(
                        answer -> answer != null ? Future.succeededFuture(answer) : submit(new Submission(submission)));
    }

    int waiting() {
        return batcher.waiting();
    }

    /** As {@link ScriptBatcher#isUnanswered}. */
    boolean isUnanswered() {
        return batcher.isUnanswered();
    }

    /** One call for requests on any draws of a shard. */
    private final class PlayScriptCall {
        private final List<Submission> submissions;
        private final Map<DrawId, List<Integer>> byDraw = new LinkedHashMap<>();

        PlayScriptCall(List<Submission> submissions) {
            this.submissions = submissions;
            for (int i = 0; i < submissions.size(); i++) {
                byDraw.computeIfAbsent(submissions.get(i).draw.id(), id -> new ArrayList<>())
                        .add(i);
            }
        }

        ShardScript.Call<List<@Nullable Answer>> call() {
            return new ShardScript.Call<>("play", 1 + 2 * byDraw.size(), this::write, this::read);
        }

        private void write(Generation generation, Request call) {
            Instant now = clock.instant();
            call.arg(DrawKeys.attempts(generation));
            for (DrawId id : byDraw.keySet()) {
                call.arg(DrawKeys.hash(generation, id)).arg(DrawKeys.schedule(generation, id));
            }
            call.arg(maxJournalEntries).arg(now.toEpochMilli());
            byDraw.forEach((id, places) -> {
                Draw draw = submissions.get(places.get(0)).draw;
                Seed.Numbers chance = draw.definition().mode() == DrawDefinition.Mode.SCHEDULE
                        ? null
                        : draw.seed().chance();
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

        private static byte[] numbers(Seed.Numbers chance, Submission submission) {
            long[] numbers = new long[submission.request.plays() * submission.numbers];
            for (int i = 0; i < numbers.length; i++) {
                if (i % submission.numbers == 0) {
                    chance.beginPlay(submission.request.id(), i / submission.numbers);
                }
                numbers[i] = chance.next();
            }
            return MessagePack.numbers(numbers);
        }

        private ShardScript.Reply<List<@Nullable Answer>> read(Generation generation, Response reply) {
            String[] outcomes = reply.get(1).toString().split(" ");
            @Nullable Answer[] answers = new Answer[submissions.size()];
            int next = 0;
            for (List<Integer> places : byDraw.values()) {
                for (int place : places) {
                    String outcome = outcomes[next++];
                    if (!outcome.equals("?")) {
                        answers[place] = Answer.of(outcome, generation);
                    }
                }
            }
            List<DecidedPlayRequest> decided = DecidedPlayRequest.decodeAll(reply.get(2));
            return new ShardScript.Reply<>(Arrays.asList(answers), decided, List.of());
        }
    }
}
