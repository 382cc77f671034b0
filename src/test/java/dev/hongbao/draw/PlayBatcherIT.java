package dev.hongbao.draw;

import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.odds.DrawModel;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Installation;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.engine.Shards;
import dev.hongbao.store.redis.Script;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UserId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each play has random numbers of its own, however it is gathered with others. */
@ExtendWith(Servers.class)
class PlayBatcherIT {
    @Test
    void aPlayWithTooFewNumbersIsAskedAgainWithMoreAndTheFirstStayTheSame(TestServers servers) {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            // Given a batcher that gives no number at first
            TestDraws draws = new TestDraws(engine);
            Draw draw = draws.create(
                    "{mode: table, whenExhausted: repeat, prizes: [{name: a, count: 3}, {name: b, count: 30}]}");
            Shards shards = new Shards(
                    new ShardStore(
                            engine.engine().pool(),
                            get(Installation.read(engine.engine().pool(), null))),
                    16,
                    Stream.of("play").collect(Collectors.toMap(name -> name, Script::read)));
            get(shards.refresh());
            List<PlayRequest> requests = IntStream.range(0, 20)
                    .mapToObj(i -> PlayRequest.of(draw.id(), new UserId("user" + i), newKey(), 1 + i % 10))
                    .toList();

            // When
            List<Future<PlayBatcher.Answer>> answers = new ArrayList<>();
            get(engine.loop(0).call(services -> {
                Attempts.Limits limits = new Attempts.Limits(256, 1000, 1000, Duration.ofSeconds(2), Duration.ZERO);
                PlayBatcher batcher = new PlayBatcher(
                        new Attempts(
                                Loop.of(engine.vertx()), services.redis, shards, null, null, limits, Clock.systemUTC()),
                        new PlayMetrics(new SimpleMeterRegistry()),
                        0);
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
}
