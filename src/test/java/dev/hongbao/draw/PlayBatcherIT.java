package dev.hongbao.draw;

import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.odds.DrawModel;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Shards;
import dev.hongbao.store.redis.LosesAnAnswer;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UnavailableException.Reason;
import dev.hongbao.values.UserId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Each play has random numbers of its own, however it is gathered with others. */
@ExtendWith(Servers.class)
class PlayBatcherIT {
    private static final String PRIZES =
            "{mode: table, whenExhausted: repeat, prizes: [{name: a, count: 3}, {name: b, count: 30}]}";

    /**
     * Gives a play no number at first.
     *
     * @param room the entries that a journal takes
     */
    private static PlayBatcher batcher(TestEngine engine, RedisLinks redis, Shards shards, int room) {
        Attempts.Limits limits = new Attempts.Limits(256, 1000, room, Duration.ofSeconds(2), Duration.ZERO);
        return new PlayBatcher(
                new Attempts(Loop.of(engine.vertx()), redis, shards, null, null, limits, Clock.systemUTC()),
                new PlayMetrics(new SimpleMeterRegistry()),
                0);
    }

    @Test
    void aPlayWithTooFewNumbersIsAskedAgainWithMoreAndTheFirstStayTheSame(TestServers servers) {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            // Given a batcher that gives no number at first
            TestDraws draws = new TestDraws(engine);
            Draw draw = draws.create(PRIZES);
            Shards shards = engine.shards(16, "play");
            List<PlayRequest> requests = IntStream.range(0, 20)
                    .mapToObj(i -> PlayRequest.of(draw.id(), new UserId("user" + i), newKey(), 1 + i % 10))
                    .toList();

            // When
            List<Future<PlayBatcher.Answer>> answers = new ArrayList<>();
            get(engine.loop(0).call(services -> {
                PlayBatcher batcher = batcher(engine, services.redis, shards, 1000);
                long deadline = System.nanoTime() + 10_000_000_000L;
                Generation now = shards.current(draw.shard()).generation();
                requests.forEach(request -> answers.add(batcher.submit(draw, request, request.id(), now, deadline)));
                return Future.join(answers);
            }));

            // Then all are played, each with the numbers of its own list
            assertThat(answers.stream().map(answer -> answer.result().verdict()))
                    .containsOnly(PlayBatcher.Verdict.PLAYED);
            Eventually.eventually(
                    Duration.ofSeconds(10), () -> assertThat(draws.plays(draw)).hasSize(110));
            Seed.Numbers chance = draw.seed().chance();
            DrawModel model = new DrawModel(draw.definition().rules(), chance);
            List<Play> played = draws.plays(draw);
            for (int seq = 0; seq < played.size(); ) {
                Play first = played.get(seq);
                PlayRequest request = requests.stream()
                        .filter(each -> each.user().equals(first.user()))
                        .findFirst()
                        .orElseThrow();
                for (int play = 0; play < request.plays(); play++, seq++) {
                    chance.beginPlay(request.id(), play);
                    assertThat(played.get(seq).number())
                            .isEqualTo(model.play(first.user().value(), 0, 0).prize());
                }
            }
        }
        new Books(servers).assertReconciled();
    }

    /** A play that needs more numbers is a new call. It is the same play, which an earlier call may have taken. */
    @Test
    void whoMayHavePlayedIsNotToldThatNothingWasDone(TestServers servers) {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            // Given a journal that nobody settles, full after one more entry, and a link that loses its answer
            Draw draw = new TestDraws(engine).create(PRIZES);
            Shards shards = engine.shards(16, "play");
            get(engine.engine().stopWriter());
            Generation now = shards.current(draw.shard()).generation();
            int room = 1 + (int) xlen(servers, now);
            long deadline = System.nanoTime() + 10_000_000_000L;
            PlayRequest ann = PlayRequest.of(draw.id(), new UserId("ann"), newKey(), 1);
            PlayRequest ben = PlayRequest.of(draw.id(), new UserId("ben"), newKey(), 1);

            // When another play, without numbers, joins the one that is repeated
            List<Future<PlayBatcher.Answer>> answers = get(engine.loop(0)
                    .call(services -> LosesAnAnswer.submit(
                            services.redis.linkFor(now.journalKey()),
                            2,
                            links -> batcher(engine, links, shards, room),
                            batcher -> batcher.submit(draw, ann, ann.id(), now, deadline),
                            batcher -> batcher.submit(draw, ben, ben.id(), now, deadline))));

            // Then
            assertThat(answers)
                    .extracting(answer -> ((UnavailableException) answer.cause()).reason())
                    .containsExactly(Reason.UNKNOWN, Reason.OVERLOADED);
            assertThat(xlen(servers, now)).isEqualTo(room);
            get(engine.engine().startWriter());
        }
    }

    private static long xlen(TestServers servers, Generation generation) {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            return redis.xlen(generation.journalKey());
        }
    }
}
