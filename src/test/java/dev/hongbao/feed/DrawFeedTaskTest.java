package dev.hongbao.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Play;
import dev.hongbao.draw.Play.SettledPlays;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Loop;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.AbstractList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DrawFeedTaskTest {
    private static final Prize PRIZE = TestDraws.definition("{mode: weights, prizes: [{name: a, weight: 1}]}")
            .prizes()
            .get(0);

    private final Vertx vertx = Vertx.vertx();
    private int statements;
    private boolean isAway;
    private long epoch = 1;
    private final DrawFeedTask task = new DrawFeedTask(
            Loop.of(vertx), StubPool.of(this::answer), shard -> new Generation("test", shard, epoch, "nonce"));

    @AfterEach
    void close() {
        TestEngine.get(vertx.close());
    }

    private Future<List<Map<String, Object>>> answer(String sql, Tuple parameters) {
        statements++;
        return isAway
                ? Future.failedFuture(new IllegalStateException("away"))
                : Future.succeededFuture(
                        sql.contains("feed_draws") ? List.of(Map.of("waiting", new UUID[0])) : List.of());
    }

    private void round(List<Integer> live) {
        var unused = task.run(live, null);
    }

    @Test
    void aShardIsSearchedOnceAndAgainAfterASuspicionOrARecovery() {
        round(List.of(3));
        round(List.of(3));
        assertThat(statements).isEqualTo(1);

        task.suspect();
        round(List.of(3));
        round(List.of(3));
        assertThat(statements).isEqualTo(2);

        epoch++;
        round(List.of(3));
        round(List.of(3));
        assertThat(statements).isEqualTo(3);
    }

    @Test
    void aSearchThatFailsIsMadeAgain() {
        isAway = true;
        round(List.of(3));
        isAway = false;
        round(List.of(3));
        round(List.of(3));
        assertThat(statements).isEqualTo(2);
    }

    @Test
    void winsThatCouldNotBeToldAreToldInTheNextRound() {
        DrawId draw = DrawId.create();
        UserId user = new UserId("ann");
        Play play = new Play(draw, 0, user, 1, PRIZE, null, Instant.EPOCH);
        UUID request = new UUID(0, 1);
        task.settled(List.of(new SettledPlays.Request(request, request, draw, user, List.of(play), null)));
        isAway = true;
        round(List.of());
        isAway = false;
        round(List.of());
        round(List.of());
        assertThat(statements).isEqualTo(2);
    }

    @Test
    void aSuspicionOfAnotherThreadAmidARoundIsKept() {
        round(List.of(3));
        round(new AbstractList<>() {
            @Override
            public Stream<Integer> stream() {
                task.suspect();
                return super.stream();
            }

            @Override
            public Integer get(int index) {
                return 3;
            }

            @Override
            public int size() {
                return 1;
            }
        });

        round(List.of(3));
        assertThat(statements).isEqualTo(2);
    }
}
