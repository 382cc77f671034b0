package dev.hongbao.tools.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.tools.chaos.check.Answer;
import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Violation;
import dev.hongbao.tools.chaos.fault.Fault;
import dev.hongbao.tools.chaos.fault.Schedule.Round;
import dev.hongbao.tools.chaos.fault.Schedule.Turn;
import dev.hongbao.tools.chaos.load.History;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Round after round, of faults that hurt nobody. */
@Timeout(10)
class RoundsTest {
    private static final long FOR_EVER_MICROS = Long.MAX_VALUE;
    private static final int MOST_OPERATIONS = 2;

    private static final Fault.Step NOTHING = () -> {};

    @TempDir
    private Path directory;

    private final List<Round> played = new ArrayList<>();
    private final List<String> done = new CopyOnWriteArrayList<>();
    private final AtomicLong nanos = new AtomicLong();
    private History history;

    @BeforeEach
    void begin() throws Exception {
        history = new History(directory.resolve("history.txt"), MOST_OPERATIONS, nanos::get);
    }

    @AfterEach
    void end() throws Exception {
        history.close();
    }

    private Turn turn(String kind, String place, Fault.Step inject) {
        Fault.Step noted = () -> {
            done.add("+" + kind);
            inject.run();
        };
        return new Turn(new Fault(kind, place, Set.of(1), noted, () -> done.add("-" + kind)), 0);
    }

    private static Fault.Step missed() {
        return () -> {
            throw new Fault.FaultMissedException("nobody came by");
        };
    }

    private static Round round(Turn... lanes) {
        List<List<Turn>> all = new ArrayList<>();
        for (Turn lane : lanes) {
            all.add(List.of(lane));
        }
        return new Round(all, false);
    }

    private Rounds rounds(Round round, Rounds.Settlement settlement) {
        return new Rounds(
                () -> {
                    played.add(round);
                    return round;
                },
                settlement,
                history,
                line -> {});
    }

    /** Nothing more is kept. */
    private void fill() {
        while (!history.isFull()) {
            history.perform(Call.claim("u", "p", 0), call -> Answer.unknown(0, "timeout"));
        }
    }

    @Test
    void noRoundBeginsAfterTheEnd() throws Exception {
        long until = history.micros() + 5_000;
        boolean[] isSettled = {false};

        Rounds rounds = rounds(round(turn("a", "here", NOTHING)), limit -> {
            nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(5));
            isSettled[0] = true;
            return List.of();
        });
        rounds.run(until);

        assertThat(played).hasSize(1);
        assertThat(isSettled[0]).isTrue();
        rounds.run(until);
        assertThat(played).hasSize(1);
    }

    @Test
    void noRoundBeginsWhenTheHistoryIsFull() throws Exception {
        rounds(round(turn("a", "here", NOTHING)), limit -> {
                    if (played.size() == 3) {
                        fill();
                    }
                    return List.of();
                })
                .run(FOR_EVER_MICROS);

        assertThat(played).hasSize(3);
    }

    @Test
    void faultsOfTwoPlacesComeAtOnceAndAreCountedWithTheTimeToSettle() throws Exception {
        // Given two that come only together
        CyclicBarrier both = new CyclicBarrier(2);
        Fault.Step together = () -> both.await(10, TimeUnit.SECONDS);
        Turn missed = turn("c", "elsewhere", missed());

        // When
        Rounds rounds = rounds(round(turn("a", "here", together), turn("b", "there", together), missed), limit -> {
            fill();
            return List.of();
        });
        rounds.run(FOR_EVER_MICROS);

        // Then what did not come is no fault, and excuses the server all the same
        assertThat(rounds.faults).containsOnlyKeys("a", "b");
        assertThat(rounds.troubles).hasSize(3);
        assertThat(rounds.stranded).isEmpty();
        assertThat(rounds.settling.others()).hasSize(1);
    }

    @Test
    void aFaultOfAPlaceIsMendedBeforeTheNextOneComes() throws Exception {
        List<Turn> lane = List.of(turn("a", "here", NOTHING), turn("b", "here", missed()), turn("c", "here", NOTHING));

        rounds(new Round(List.of(lane), false), limit -> {
                    fill();
                    return List.of();
                })
                .run(FOR_EVER_MICROS);

        assertThat(done).containsExactly("+a", "-a", "+b", "-b", "+c", "-c");
    }

    @Test
    void whatDoesNotSettleIsAViolation() throws Exception {
        Rounds rounds = rounds(round(turn("a", "here", NOTHING)), limit -> {
            fill();
            return List.of("server 1 settles nothing in shard 3");
        });

        rounds.run(FOR_EVER_MICROS);

        assertThat(rounds.stranded)
                .singleElement()
                .extracting(Violation::text)
                .asString()
                .contains("server 1 settles nothing in shard 3");
    }

    @Test
    void whatCannotBeDoneEndsTheRun() {
        Rounds rounds = rounds(
                round(turn("kind of fault", "here", () -> {
                    throw new IllegalStateException("no such process");
                })),
                limit -> List.of());

        assertThatThrownBy(() -> rounds.run(FOR_EVER_MICROS))
                .hasMessageContaining("kind of fault")
                .hasRootCauseMessage("no such process");
        assertThat(done).as("mended all the same").containsExactly("+kind of fault", "-kind of fault");
    }
}
