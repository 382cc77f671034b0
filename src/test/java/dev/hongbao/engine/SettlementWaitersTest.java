package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import io.vertx.pgclient.PgBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
class SettlementWaitersTest {
    private static final Generation GENERATION = new Generation("test", 3, 1, "nonce");
    private static final Generation WELL = new Generation("test", 4, 1, "nonce");

    private final SettlementWaiters.Lookups<String> lookups = new SettlementWaiters.Lookups<>();
    private SettlementWaiters<String, String> waiters;

    @BeforeEach
    void make(Vertx vertx) {
        ShardStore nowhere =
                new ShardStore(PgBuilder.pool().using(vertx).build(), new Installation(new UUID(0, 0), "test"));
        waiters = new SettlementWaiters<>(
                Loop.of(vertx),
                new Shards(nowhere, 16, Map.of()),
                10,
                keys -> Future.succeededFuture(Map.of()),
                nanos -> {},
                () -> 0); // time stands still: nobody waits so long that he is looked up
    }

    private Future<String> await(String key) {
        return waiters.await(key, GENERATION, true, 1);
    }

    private static void eventually(Runnable check) {
        Eventually.eventually(Duration.ofSeconds(10), check::run);
    }

    @Test
    void whatIsSettledBeforeItsAcceptanceIsHeardOfIsNotWaitedFor() {
        // Given
        waiters.settled("alice", "7 fen");

        // When
        Future<String> wait = await("alice");

        // Then
        assertThat(wait.result()).isEqualTo("7 fen");
        assertThat(waiters.waiting()).isZero();
    }

    @Test
    void whatIsRememberedForThatIsBounded() {
        // Given many that nobody here waits for
        for (int i = 0; i < 100_000; i++) {
            waiters.settled("user" + i, "1 fen");
        }

        // Then the latest is remembered, the first is not
        assertThat(await("user99999").isComplete()).isTrue();
        assertThat(await("user0").isComplete()).isFalse();
    }

    @Test
    void whatIsNotSettledIsCountedByShardUntilItIs() {
        // Given two who wait, and one of them twice
        Future<String> given = waiters.await("bob", GENERATION, true, -1);
        await("alice");
        await("alice");
        assertThat(waiters.unsettled().of(3)).isEqualTo(2);

        // When one of them gives up
        eventually(() -> assertThat(given.failed()).isTrue());

        // Then his claim is in the journal all the same, and takes a place
        assertThat(waiters.waiting()).isEqualTo(2);
        assertThat(waiters.unsettled().of(3)).isEqualTo(2);

        // When both are settled, and one that nobody waited for
        waiters.settled("alice", "7 fen");
        waiters.settled("bob", "8 fen");
        waiters.settled("carol", "9 fen");

        // Then
        assertThat(waiters.unsettled().of(3)).isZero();
        assertThat(waiters.settled().of(3)).isEqualTo(1);
        assertThat(waiters.settled().of(2)).isZero();
    }

    @Test
    void whoCallsAgainKeepsNobodyBeyondHisDeadline() {
        // Given a repeated call, which Redis answered before the first one
        waiters.await("alice", GENERATION, true, 1);

        // When
        Future<String> first = waiters.await("alice", GENERATION, true, -1);

        // Then
        eventually(() -> assertThat(first.failed()).isTrue());
    }

    @Test
    void itHearsOfSettlementsWhileSomebodyWaitsOrIsAboutTo() {
        // Given
        Settlements<String> settlements = new Settlements<>();
        AtomicBoolean coming = new AtomicBoolean();
        List<String> heard = new CopyOnWriteArrayList<>();
        waiters.listen(settlements, coming::get, user -> {
            heard.add(user);
            waiters.settled(user, "7 fen");
        });
        settlements.here().tell("nobody waits");

        // When somebody is about to wait
        coming.set(true);
        settlements.here().tell("alice");
        eventually(() -> assertThat(heard).containsExactly("alice"));
        Future<String> late = await("alice");

        // And when somebody waits
        coming.set(false);
        Future<String> wait = await("bob");
        settlements.toWaiters().tell("bob");

        // Then
        assertThat(late.result()).isEqualTo("7 fen");
        eventually(() -> assertThat(wait.result()).isEqualTo("7 fen"));

        // And then nobody does any more
        settlements.here().tell("nobody waits");
        assertThat(await("nobody waits").isComplete()).isFalse();
        assertThat(heard).containsExactly("alice", "bob");
    }

    @Test
    void itIsFullOfThoseWhoWaitAndThoseWhoAreComing() {
        // Given
        for (int i = 0; i < 7; i++) {
            await("user" + i);
        }

        // Then
        assertThat(waiters.isFull(2)).isFalse();
        assertThat(waiters.isFull(3)).isTrue();
    }

    private void lookUp(int count, Generation generation) {
        for (int i = 0; i < count; i++) {
            lookups.add(generation.shard() + "-" + i, generation);
        }
    }

    @Test
    void nobodyIsAskedForWhenNobodyWaits() {
        assertThat(lookups.chosen()).isEmpty();
    }

    @Test
    void aShardThatStandsStillKeepsNobodyOfAnotherFromBeingFound() {
        // Given many who wait for one shard, and some who came after them
        lookUp(10_000, GENERATION);
        lookUp(3, WELL);

        // Then
        assertThat(lookups.chosen())
                .containsEntry("4-0", WELL)
                .containsEntry("4-2", WELL)
                .containsEntry("3-0", GENERATION)
                .hasSize(256 + 3);
    }

    @Test
    void ofOneShardTheFirstAreAskedFor() {
        lookUp(10_000, GENERATION);

        assertThat(lookups.chosen())
                .containsOnlyKeys(
                        IntStream.range(0, 512).mapToObj(n -> "3-" + n).toArray(String[]::new));
    }
}
