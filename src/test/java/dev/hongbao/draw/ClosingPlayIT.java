package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.ShardScript;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.testing.TestTime;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** Plays between a draw's closing time and its close, with a Postgres whose clock the test moves. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClosingPlayIT {
    private static final Duration SOON = Duration.ofSeconds(15);

    private final IdempotencyKey key = new IdempotencyKey("held");
    private TestServers servers;
    private Books books;
    private TestTime time;
    private TestEngine engine;
    private TestDraws draws;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        time = new TestTime(servers);
        engine = TestEngine.start(servers, 1, Map.of("shards", "1", "claim.settle-timeout", "1s"));
        draws = new TestDraws(engine);
    }

    @AfterAll
    void stop() {
        engine.close();
        time.close();
    }

    /** A draw that closes in five seconds: nobody takes a cost that is held now for one of a server that is gone. */
    private Draw drawThatClosesSoon() {
        return draws.create("""
                {closesAt: '%s', mode: weights, cost: {asset: POINTS, amount: 5}, prizes: [{name: a, weight: 1}]}
                """.formatted(time.now().plusSeconds(5)));
    }

    @Test
    void aPlayThatWasHeldInTimeIsNotToldThatTheDrawIsClosedWhileItIsUndecided() {
        // Given a cost that is held, nobody who settles or closes, and a draw that is over
        draws.deposit("vera", POINTS, 100);
        Draw draw = drawThatClosesSoon();
        get(engine.engine().stopWriter());
        books.hold(draw, "vera", key, 1);
        time.move(Duration.ofSeconds(6), engine);

        // When, Then
        assertThatThrownBy(() -> get(draws.play(0, draw, "vera", 1, key))).isInstanceOf(UnavailableException.class);
        assertThat(get(draws.play(0, draw, "vera", 1, new IdempotencyKey("late")))
                        .kind())
                .isEqualTo(PlayOutcome.Kind.CLOSED);

        // When the draw is closed
        get(engine.engine().startWriter());
        String closed = "select count(*) from draw where closed_at is not null and id = '" + draw.id() + "'";
        eventually(SOON, () -> assertThat(books.longOf(closed)).isEqualTo(1));

        // Then
        eventually(
                SOON,
                () -> assertThat(get(draws.play(0, draw, "vera", 1, key)).kind())
                        .isEqualTo(PlayOutcome.Kind.CLOSED));
        assertThat(draws.balance("vera", POINTS)).isEqualTo(100);
        books.assertClean();
    }

    @Test
    void aCostThatTheEndOfItsDrawGaveBackIsNoContradictionWhenItsOwnerIsLate() {
        // Given a cost that an owner sees held, and then the draw ends and gives it back
        draws.deposit("wanda", POINTS, 100);
        Draw draw = drawThatClosesSoon();
        UUID attempt = books.hold(draw, "wanda", key, 1);
        time.move(Duration.ofSeconds(5), engine);
        eventually(SOON, () -> assertThat(draws.balance("wanda", POINTS)).isEqualTo(100));
        long epochs = books.sumOfEpochs();

        // When the owner gives it back
        PlayRequest request = PlayRequest.of(draw.id(), new UserId("wanda"), key, 1);
        String returned = new ShardScript(servers).giveBack(draw.id(), request.id(), attempt, "wanda");

        // Then
        assertThat(returned).isEqualTo("1");
        eventually(SOON, books::assertJournalsEmpty);
        assertThat(engine.metrics().get("hongbao.journal.voids").counter().count())
                .isZero();
        assertThat(draws.balance("wanda", POINTS)).isEqualTo(100);
        assertThat(books.sumOfEpochs()).as("recoveries").isEqualTo(epochs);
        books.assertClean();
    }
}
