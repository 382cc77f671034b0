package dev.hongbao.play;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.command.IdempotencyKey;
import dev.hongbao.command.UserId;
import dev.hongbao.draw.Draw;
import dev.hongbao.redis.MessagePack;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.ShardScript;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** A script that plays a turn whose cost is back already: what it gave was never answered, and it counts for nothing. */
@ExtendWith(Servers.class)
class LateAcceptIT {
    private static final Duration SOON = Duration.ofSeconds(15);

    @Test
    void anAcceptAfterTheHoldWasReturnedIsVoidAndChangesNothing(TestServers servers) throws Exception {
        Books books = new Books(servers);
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "1"))) {
            // Given a cost that was held by a server that died, and given back by the owner
            TestDraws draws = new TestDraws(engine);
            draws.deposit("vera", POINTS, 100);
            Draw draw = draws.create("""
                    {mode: table, cost: {asset: POINTS, amount: 5}, limits: {total: 100},
                     prizes: [{name: a, count: 3}, {name: b, count: 7}]}
                    """);
            var key = new IdempotencyKey("late");
            Turn turn = Turn.of(draw.id(), new UserId("vera"), key, 10);
            UUID ticket = UUID.randomUUID();
            books.execute(
                    "select hold_turns(array['%s']::uuid[], array['%s']::uuid[], array['vera'], array[10]::smallint[],"
                                    .formatted(turn.id(), draw.id())
                            + " array['" + ticket
                            + "']::uuid[]); update turn set held_at = held_at - interval '1 hour'");
            eventually(SOON, () -> assertThat(draws.balance("vera", POINTS)).isEqualTo(100));
            long epochs = books.sumOfEpochs();

            // When the dead server's call reaches a Redis that has forgotten the ticket
            assertThat(playLate(servers, books, draw, turn, ticket)).isEqualTo("+");

            // Then it is void: nothing is played or paid, and Redis is written anew from what is settled
            eventually(
                    SOON,
                    () -> assertThat(engine.metrics()
                                    .get("hongbao.journal.voids")
                                    .counter()
                                    .count())
                            .isEqualTo(1));
            eventually(SOON, () -> assertThat(books.sumOfEpochs()).isGreaterThan(epochs));
            eventually(SOON, books::assertJournalsEmpty);
            assertThat(draws.plays(draw)).isEmpty();
            assertThat(draws.balance("vera", POINTS)).isEqualTo(100);
            assertThat(books.strings("select status from turn")).containsExactly("returned");
            books.assertClean();
            books.assertReconciled();

            // And the same key plays the whole table
            PlayOutcome now = get(draws.play(0, draw, "vera", 10, key));
            assertThat(TestDraws.counts(now.plays())).isEqualTo(Map.of("a", 3L, "b", 7L));
            assertThat(draws.balance("vera", POINTS)).isEqualTo(50);
        }
    }

    /** @return the script's outcome */
    private static String playLate(TestServers servers, Books books, Draw draw, Turn turn, UUID ticket) {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.zrem(books.stamps().get(0) + ":tickets", ticket.toString());
        }
        return new ShardScript(servers)
                .call(
                        0,
                        "play",
                        List.of("journal", "tickets", "d:" + draw.id(), "m:" + draw.id()),
                        100_000,
                        System.currentTimeMillis(),
                        MessagePack.numbers(new long[20]),
                        draw.id(),
                        0,
                        1,
                        turn.id(),
                        ticket,
                        "vera",
                        10,
                        1);
    }
}
