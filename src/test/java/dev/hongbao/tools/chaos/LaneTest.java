package dev.hongbao.tools.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.tools.chaos.Rounds.Harm;
import dev.hongbao.tools.chaos.Rounds.Lane;
import dev.hongbao.tools.chaos.fault.Fault;
import dev.hongbao.tools.chaos.fault.Schedule.Turn;
import dev.hongbao.tools.chaos.load.History;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The faults of one place, without any place. */
@Timeout(10)
class LaneTest {
    /** So long is looked whether something comes that must not come yet. */
    private static final long LOOK_MILLIS = 300;

    @TempDir
    private Path directory;

    private final List<String> done = new CopyOnWriteArrayList<>();
    private History history;

    @BeforeEach
    void begin() throws Exception {
        history = new History(directory.resolve("history.txt"), 10, System::nanoTime);
    }

    @AfterEach
    void end() throws Exception {
        history.close();
    }

    private Turn turn(String name, String step, Fault.Step inject) {
        Fault fault = new Fault(
                name,
                "place",
                step,
                Set.of(),
                () -> {
                    done.add("+" + name);
                    inject.run();
                },
                () -> done.add("-" + name));
        return new Turn(fault, 1);
    }

    private Turn turn(String name) {
        return turn(name, "", Fault.NOTHING);
    }

    private Lane lane(CountDownLatch steps, Turn... turns) {
        return new Lane(List.of(turns), history, steps);
    }

    @Test
    @DisplayName("Given faults of one place, when they come, then each is mended before the next one comes")
    void oneAtATime() throws Exception {
        List<Harm> harms =
                lane(new CountDownLatch(0), turn("a"), turn("b"), turn("c")).call();

        assertThat(done).containsExactly("+a", "-a", "+b", "-b", "+c", "-c");
        assertThat(harms).hasSize(3).allMatch(Harm::came);
        assertThat(harms)
                .allSatisfy(harm ->
                        assertThat(harm.mendedMicros() - harm.fromMicros()).isGreaterThan(1_000));
        assertThat(harms.get(1).fromMicros())
                .isGreaterThanOrEqualTo(harms.get(0).mendedMicros());
    }

    @Test
    @DisplayName(
            "Given a fault that does not come about, when it was tried, then it is mended, does not count, and the next one comes")
    void whatIsMissedIsMended() throws Exception {
        Turn missed = turn("a", "", () -> {
            throw new Fault.FaultMissedException("nobody came by");
        });

        List<Harm> harms = lane(new CountDownLatch(0), missed, turn("b")).call();

        assertThat(done).containsExactly("+a", "-a", "+b", "-b");
        assertThat(harms).extracting(Harm::came).containsExactly(false, true);
    }

    @Test
    @DisplayName("Given a fault that cannot be done, when it was tried, then it is mended and the lane fails")
    void whatFailsIsMendedAndTold() {
        Turn broken = turn("a", "", () -> {
            throw new IllegalStateException("no such process");
        });

        assertThatThrownBy(() -> lane(new CountDownLatch(0), broken, turn("b")).call())
                .hasMessage("no such process");
        assertThat(done).containsExactly("+a", "-a");
    }

    @Test
    @DisplayName(
            "Given a fault that waits for a step, when others are to come, then they come once it has, or has not been reached")
    void othersWaitForSteps() throws Exception {
        // Given two places, one of which waits for a step
        CountDownLatch steps = new CountDownLatch(1);
        CountDownLatch otherCame = new CountDownLatch(1);
        Turn step = turn("step", "commit", () -> {
            assertThat(otherCame.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)).isFalse();
            throw new Fault.FaultMissedException("not reached");
        });
        Lane other = lane(steps, turn("other", "", otherCame::countDown));

        // When
        CompletableFuture<List<Harm>> others = CompletableFuture.supplyAsync(() -> {
            try {
                return other.call();
            } catch (Exception fault) {
                throw new AssertionError(fault);
            }
        });
        List<Turn> turns = List.of(step, turn("last"));
        List<Harm> harms = new Lane(turns, history, steps).call();

        // Then
        assertThat(harms).extracting(Harm::came).containsExactly(false, true);
        assertThat(others.get(10, TimeUnit.SECONDS)).extracting(Harm::came).containsExactly(true);
        assertThat(done).startsWith("+step");
    }
}
