package dev.hongbao.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.pgclient.PgException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GatheredCommandsTest {
    private static final int MAX_WAITING = 1_000;

    /** What was sent, and how each ended; commands are words, and the first letter is the unit. */
    private final List<List<String>> statements = new ArrayList<>();

    private final List<Promise<List<String>>> ends = new ArrayList<>();
    private long nanos;
    private final GatheredCommands<String, String> commands = new GatheredCommands<>(
            Text.plain("words"),
            MAX_WAITING,
            word -> word.charAt(0),
            batch -> {
                statements.add(batch);
                ends.add(Promise.promise());
                return ends.get(ends.size() - 1).future();
            },
            () -> nanos);

    private List<Future<String>> submit(String... words) {
        return List.of(words).stream().map(commands::submit).toList();
    }

    /** The latest statement succeeds. */
    private void succeed() {
        int last = ends.size() - 1;
        ends.get(last)
                .complete(statements.get(last).stream().map(word -> word + "!").toList());
    }

    private void refuse(String sqlState) {
        ends.get(ends.size() - 1).fail(new PgException("the test refuses it", "ERROR", sqlState, ""));
    }

    @Test
    void aLoneCommandWaitsForNobodyAndLaterOnesGather() {
        // When
        List<Future<String>> answers = submit("a", "b", "c");

        // Then
        assertThat(statements).containsExactly(List.of("a"));
        succeed();
        assertThat(statements).containsExactly(List.of("a"), List.of("b", "c"));
        succeed();
        assertThat(answers).extracting(Future::result).containsExactly("a!", "b!", "c!");
        assertThat(statements).hasSize(2);
    }

    @Test
    void twoOfOneUnitAreNotInOneStatementAndKeepTheirOrder() {
        submit("x", "a1", "a2", "b", "a3");
        for (int i = 0; i < 4; i++) {
            succeed();
        }
        assertThat(statements).containsExactly(List.of("x"), List.of("a1", "b"), List.of("a2"), List.of("a3"));
    }

    @Test
    void oneThatIsRefusedFailsAlone() {
        for (String sqlState : List.of("23514", "22021", "P0001", "55P03", "XX001", "40001")) {
            // Given
            statements.clear();
            ends.clear();
            List<Future<String>> answers = submit("x", "a", "b", "c");
            succeed();

            // When
            refuse(sqlState);
            succeed();
            refuse(sqlState);
            succeed();

            // Then
            assertThat(statements)
                    .containsExactly(List.of("x"), List.of("a", "b", "c"), List.of("a"), List.of("b"), List.of("c"));
            assertThat(answers).extracting(Future::succeeded).containsExactly(true, true, false, true);
            assertThat(answers.get(2).cause()).isInstanceOf(PgException.class);
        }
    }

    @Test
    void whatIsNobodysFaultFailsAllAndNothingIsTriedAgain() {
        List<Throwable> faults = List.of(
                new java.io.IOException("the connection is broken"),
                new PgException("the server goes away", "FATAL", "57P01", ""),
                new PgException("the disk is full", "ERROR", "53100", ""));
        for (Throwable fault : faults) {
            // Given
            statements.clear();
            ends.clear();
            List<Future<String>> answers = submit("x", "a", "b");
            succeed();

            // When
            ends.get(1).fail(fault);

            // Then
            assertThat(statements).hasSize(2);
            assertThat(answers.subList(1, 3))
                    .allSatisfy(answer -> assertThat(answer.cause()).isSameAs(fault));
        }
    }

    @Test
    void asManyMayWaitAndTheNextIsRefusedAtOnce() {
        // Given one under way, and as many waiting as may
        submit("x");
        List<Future<String>> waiting = IntStream.range(0, MAX_WAITING)
                .mapToObj(n -> commands.submit((char) (1000 + n) + ""))
                .toList();

        // When
        Future<String> refused = commands.submit("a");

        // Then
        assertOverloaded(refused);
        assertThat(commands.waiting()).isEqualTo(MAX_WAITING);
        while (commands.waiting() > 0) {
            succeed();
        }
        succeed();
        assertThat(waiting).allMatch(Future::succeeded);
        assertThat(statements).extracting(List::size).containsExactly(1, 256, 256, 256, 232);
    }

    @Test
    void whoWaitedTooLongIsNotSent() {
        // Given
        List<Future<String>> answers = new ArrayList<>(submit("x", "early"));
        nanos += Duration.ofSeconds(2).toNanos();
        answers.addAll(submit("late"));
        nanos += Duration.ofSeconds(2).toNanos();

        // When
        succeed();

        // Then
        assertThat(statements).containsExactly(List.of("x"), List.of("late"));
        assertOverloaded(answers.get(1));
    }

    @Test
    void aStatementThatThrowsKeepsNobodyWaiting() {
        GatheredCommands<String, String> throwing =
                new GatheredCommands<>(Text.plain("words"), 10, word -> word, batch -> {
                    throw new IllegalStateException("the test throws");
                });
        assertThat(throwing.submit("a").cause()).hasMessage("the test throws");
        assertThat(throwing.submit("b").cause()).hasMessage("the test throws");
    }

    private static void assertOverloaded(Future<String> refused) {
        assertThat(refused.cause())
                .isInstanceOfSatisfying(
                        UnavailableException.class,
                        reason -> assertThat(reason.reason()).isEqualTo(UnavailableException.Reason.OVERLOADED));
    }
}
