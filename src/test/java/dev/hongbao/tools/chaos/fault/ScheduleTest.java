package dev.hongbao.tools.chaos.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.tools.chaos.bed.RedisSide.Form;
import dev.hongbao.tools.chaos.fault.Schedule.Round;
import dev.hongbao.tools.chaos.fault.Schedule.Turn;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rounds of all kinds of faults, without any server. */
class ScheduleTest {
    private static final int ROUNDS = 60;
    private static final int SERVERS = 3;

    /** As the kinds' own makers choose, but for what would be done. */
    private static Fault made(FaultKind kind, SplittableRandom random) {
        String name = kind.name();
        int server = random.nextInt(SERVERS);
        String first = name.substring(0, name.indexOf(':'));
        String place = switch (first) {
            case "server" -> "server " + server;
            case "redis", "postgres" -> first;
            default -> "line " + server + " " + first;
        };
        return new Fault(name, place, Set.of(), () -> {}, () -> {});
    }

    private static Schedule schedule(Form form, long seed, String only) {
        SplittableRandom random = new SplittableRandom(seed);
        return new Schedule(Faults.of(form), kind -> made(kind, random), random, only);
    }

    private static List<Round> rounds(Form form, long seed, String only) {
        Schedule schedule = schedule(form, seed, only);
        return IntStream.range(0, ROUNDS).mapToObj(i -> schedule.next()).toList();
    }

    private static List<Round> rounds(long seed) {
        return rounds(Form.ONE, seed, "");
    }

    private static Stream<Turn> turns(Round round) {
        return round.lanes().stream().flatMap(List::stream);
    }

    private static List<String> plan(List<Round> rounds) {
        return rounds.stream()
                .flatMap(ScheduleTest::turns)
                .map(turn -> turn.fault() + " " + turn.millis())
                .toList();
    }

    @Test
    void aSeedGivesTheSameFaultsAgain() {
        assertThat(plan(rounds(7))).isEqualTo(plan(rounds(7))).isNotEqualTo(plan(rounds(8)));
    }

    @ParameterizedTest
    @EnumSource
    void everyKindComesAsOftenAsItShould(Form form) {
        // Given
        Map<String, Boolean> restarts =
                Faults.of(form).stream().collect(Collectors.toMap(FaultKind::name, FaultKind::restarts));

        // When
        Map<String, Long> counts = rounds(form, 4_711, "").stream()
                .flatMap(ScheduleTest::turns)
                .collect(Collectors.groupingBy(turn -> turn.fault().kind(), Collectors.counting()));

        // Then no kind is more than three turns of all ahead of another
        assertThat(counts.keySet()).isEqualTo(restarts.keySet());
        long least = counts.entrySet().stream()
                .mapToLong(each -> restarts.get(each.getKey()) ? 2 * each.getValue() : each.getValue())
                .min()
                .orElseThrow();
        assertThat(least).isGreaterThanOrEqualTo(2);
        assertThat(counts)
                .allSatisfy((kind, count) -> assertThat(restarts.get(kind) ? 2 * count : count)
                        .as(kind)
                        .isBetween(least, least + 6));
    }

    @Test
    void aLaneIsAPlace() {
        for (Round round : rounds(11)) {
            List<Set<String>> places = round.lanes().stream()
                    .map(lane -> lane.stream().map(turn -> turn.fault().place()).collect(Collectors.toSet()))
                    .toList();

            assertThat(places)
                    .doesNotHaveDuplicates()
                    .allSatisfy(each -> assertThat(each).hasSize(1));
            assertThat(round.lanes())
                    .allSatisfy(lane -> assertThat(lane).hasSizeLessThanOrEqualTo(Schedule.MOST_IN_PLACE));
            assertThat(turns(round).count()).isBetween(1L, (long) Schedule.MOST);
        }
    }

    @Test
    void aServerStartsOnceARound() {
        Map<String, FaultKind> kinds =
                Faults.of(Form.ONE).stream().collect(Collectors.toMap(FaultKind::name, Function.identity()));
        for (Round round : rounds(13)) {
            assertThat(turns(round)
                            .map(Turn::fault)
                            .filter(fault -> kinds.get(fault.kind()).restarts())
                            .map(Fault::place))
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    void aRoundIsSilentWhenAFaultOfItIs() {
        Map<String, FaultKind> kinds =
                Faults.of(Form.ONE).stream().collect(Collectors.toMap(FaultKind::name, Function.identity()));
        List<Round> rounds = rounds(14);

        assertThat(rounds)
                .allSatisfy(round -> assertThat(round.isSilent())
                        .isEqualTo(turns(round)
                                .anyMatch(turn -> kinds.get(turn.fault().kind()).isSilent())));
        assertThat(rounds.stream().filter(Round::isSilent).count()).isBetween(ROUNDS / 4L, 3L * ROUNDS / 4);
    }

    @Test
    void onlyTheKindsThatAreWishedForCome() {
        assertThat(rounds(Form.ONE, 15, "kill -9,slow").stream().flatMap(ScheduleTest::turns))
                .isNotEmpty()
                .allSatisfy(turn -> assertThat(turn.fault().kind()).containsAnyOf("kill -9", "slow"));
        assertThat(rounds(16).stream().flatMap(ScheduleTest::turns).map(Turn::millis))
                .allSatisfy(millis -> assertThat(millis).isLessThan(Schedule.LONG_MILLIS))
                .anySatisfy(millis -> assertThat(millis).isGreaterThan(Schedule.USUAL_MILLIS));
        assertThatThrownBy(() -> schedule(Form.ONE, 17, "no such thing")).isInstanceOf(IllegalArgumentException.class);
    }
}
