package dev.hongbao.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.engine.journal.ShardCounts;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rule of admission, over seconds of a model of servers and their writer: every run is the same. */
class AdmissionControlTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    /** Twice what a writer settles, at moments that fall anywhere between the ticks. */
    private static final String WRITERS = """
            400, 50
            1000, 10
            1000, 200
            10000, 10
            10000, 80
            10000, 200
            40000, 80
            """;

    @ParameterizedTest(name = "{0}/s, every {1} ms")
    @CsvSource(textBlock = WRITERS)
    void ofTenTimesTheLoadAsMuchIsLetInAsIsSettledAndNobodyWaitsTooLong(int capacity, int lumpMillis) {
        // Given two servers that have settled nothing yet, with places for what is settled in half of the timeout
        ModelServers model = new ModelServers(2, capacity, lumpMillis, capacity);

        // When ten times as much comes, from one moment on, nine parts of it to one server
        model.server(0).perSecond = 9.0 * capacity;
        model.server(1).perSecond = 1.0 * capacity;
        long first = model.run(SECOND);
        long settled = model.run(SECOND.multipliedBy(9));

        // Then the writer never idles
        assertThat((double) first + settled).isGreaterThan(9.6 * capacity);
        // And nobody who was let in waits beyond the timeout
        assertThat(model.longestMillis()).isLessThan((int) ModelServers.TIMEOUT.toMillis());
        // And the chances are the same at both
        double here = model.server(0).admittedPart();
        double there = model.server(1).admittedPart();
        assertThat(there / here).isCloseTo(1, within(0.1));
    }

    @Test
    void theTermsDoNotSwing() {
        // Given a load of ten times for some seconds
        ModelServers model = new ModelServers(1, 10_000, 80);
        model.server(0).perSecond = 100_000;
        model.run(SECOND.multipliedBy(3));

        // When it goes on
        List<Double> chances = new ArrayList<>();
        List<Integer> backlogs = new ArrayList<>();
        for (int tick = 0; tick < 50; tick++) {
            model.run(Duration.ofMillis(100));
            chances.add(model.server(0).chance());
            backlogs.add(model.backlog());
        }

        // Then the chance stays where it is, but for the lumps in which is settled, and there is always work
        assertThat(chances).allSatisfy(chance -> assertThat(chance).isBetween(0.08, 0.125));
        assertThat(backlogs).allSatisfy(backlog -> assertThat(backlog).isBetween(3_000, 7_000));
    }

    @Test
    void whoeverComesIsLetInAgainOnceTheLoadIsWhatCanBeSettled() {
        // Given an overload
        ModelServers model = new ModelServers(1, 10_000, 80);
        ModelServers.Server server = model.server(0);
        server.perSecond = 100_000;
        model.run(SECOND.multipliedBy(3));
        assertThat(server.chance()).isLessThan(0.2);

        // When less comes than can be settled
        server.perSecond = 8_000;
        model.run(SECOND.multipliedBy(2));

        // Then everybody is let in, for as long as that lasts
        long offered = server.offered;
        long admitted = server.admitted;
        model.run(SECOND.multipliedBy(10));
        assertThat(server.admitted - admitted).isEqualTo(server.offered - offered);
        assertThat(server.chance()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"50, 9000, 10000, 10", "50, 9000, 10000, 80", "5000, 9000, 10000, 80", "1, 400, 1000, 200"})
    void aLoadThatCanBeSettledIsNeverRefusedHoweverSuddenly(int before, int load, int capacity, int lumpMillis) {
        // Given a server that has never seen more than little
        ModelServers model = new ModelServers(1, capacity, lumpMillis);
        model.server(0).perSecond = before;
        model.run(SECOND.multipliedBy(3));

        // When it is nearly as much as can be settled
        model.server(0).perSecond = load;
        model.run(SECOND.multipliedBy(5));

        // Then
        assertThat(model.server(0).admitted).isEqualTo(model.server(0).offered);
    }

    @Test
    void aStoreThatStandsStillForAMomentRefusesNobody() {
        // Given half of what can be settled
        ModelServers model = new ModelServers(1, 10_000, 20);
        model.server(0).perSecond = 5_000;
        model.run(SECOND.multipliedBy(3));

        // When nothing is settled for a moment, several times
        for (int moment = 0; moment < 5; moment++) {
            model.capacity = 0;
            model.run(Duration.ofMillis(400));
            model.capacity = 10_000;
            model.run(SECOND.multipliedBy(2));
        }

        // Then
        assertThat(model.server(0).admitted).isEqualTo(model.server(0).offered);
    }

    @Test
    void aStoreThatStandsStillLetsInNoMoreThanItSettlesInTheTimeoutOnceItGoesOn() {
        // Given what can be settled, known from an overload
        ModelServers model = new ModelServers(1, 10_000, 20);
        model.server(0).perSecond = 100_000;
        model.run(SECOND.multipliedBy(3));

        // When nothing is settled any more
        model.capacity = 0;
        model.run(SECOND.multipliedBy(5));

        // Then what waits is less than is settled in the timeout
        assertThat(model.backlog()).isLessThan(20_000);
        // And it goes on when the store does
        model.capacity = 10_000;
        assertThat(model.run(SECOND.multipliedBy(3))).isGreaterThan(29_000);
    }

    @Test
    void theNextBurstIsBoundedByWhatWasSettledInTheLast() {
        // Given what can be settled, known from an overload, and a pause
        ModelServers model = new ModelServers(1, 10_000, 20, 50_000);
        model.server(0).perSecond = 100_000;
        model.run(SECOND.multipliedBy(3));
        model.server(0).perSecond = 0;
        model.run(SECOND.multipliedBy(3));

        // When everybody comes between two ticks
        model.server(0).perSecond = 1_000_000;
        model.run(Duration.ofMillis(20));

        // Then as many are let in as are settled in half of the timeout
        assertThat(model.server(0).chance()).isEqualTo(1);
        assertThat(model.backlog()).isBetween(9_000, 11_500);
    }

    @Test
    void claimsThatNeedNoSettlementAreNotKeptOut() {
        // Given that nineteen of twenty who are let in find nothing left, and of the rest three times as many as can be
        // settled
        ModelServers model = new ModelServers(1, 10_000, 80);
        model.server(0).idle = 0.95;
        model.server(0).perSecond = 600_000;
        model.run(SECOND.multipliedBy(2));

        // Then the writer has enough to do all the same
        assertThat(model.run(SECOND.multipliedBy(5))).isGreaterThan(45_000);

        // When all of the rest can be settled
        model.server(0).perSecond = 150_000;
        model.run(SECOND.multipliedBy(4));

        // Then everybody is let in, though what comes is more than what is settled
        assertThat(model.server(0).chance()).isEqualTo(1);
    }

    @Test
    void withoutTheOthersEachServerLetsInWhatIsSettledOfItsOwn() {
        // Given two servers under ten times the load, nine parts of it at one
        ModelServers model = new ModelServers(2, 10_000, 80);
        model.server(0).perSecond = 90_000;
        model.server(1).perSecond = 10_000;
        model.run(SECOND.multipliedBy(3));

        // When they do not hear of each other any more
        model.cutOff();
        long settled = model.run(SECOND.multipliedBy(10));

        // Then as much is settled, nobody waits too long, and each lets in some
        assertThat(settled).isGreaterThan(98_000);
        assertThat(model.longestMillis()).isLessThan((int) ModelServers.TIMEOUT.toMillis());
        assertThat(model.server(0).chance()).isBetween(0.05, 0.2);
        assertThat(model.server(1).chance()).isBetween(0.02, 0.5);
    }

    @Test
    void aServerThatIsWarmingUpLetsACrowdInWhole() {
        // Given a server just started, which settles twice as much in twelve seconds as at first
        ModelServers model = new ModelServers(1, 9_600, 80);
        model.warming = (20_000 - 9_600) / 12.0;
        ModelServers.Server server = model.server(0);

        // When a crowd comes at once, and another one each second
        for (int second = 0; second < 12; second++) {
            assertThat(server.crowd(2_000)).isZero();
            model.run(SECOND);
        }

        // Then all were let in, and so they are beside a load that cannot be told from a crowd
        server.perSecond = 10_000;
        model.run(SECOND);
        assertThat(server.crowd(2_000)).isZero();
        model.run(SECOND.multipliedBy(3));
        assertThat(server.admitted).isEqualTo(server.offered);
        assertThat(model.longestMillis()).isLessThan((int) ModelServers.TIMEOUT.toMillis() / 2);
    }

    @Test
    void whatAServerCanDoIsFollowedWhileItWarmsUp() {
        // Given a server just started, under ten times the load
        ModelServers model = new ModelServers(1, 9_600, 80);
        model.warming = (20_000 - 9_600) / 12.0;
        model.server(0).perSecond = 150_000;

        // When it settles twice as much in the end
        long settled = model.run(SECOND.multipliedBy(12));

        // Then its writer never idled, and nobody waited too long
        assertThat((double) settled).isGreaterThan(0.97 * 12 * (9_600 + 20_000) / 2);
        assertThat(model.longestMillis()).isLessThan((int) ModelServers.TIMEOUT.toMillis());
    }

    @ParameterizedTest(name = "{0}/s, every {1} ms")
    @CsvSource(textBlock = WRITERS)
    void anIdleServerThatIsHitByTenTimesTheLoadIsBusyAtOnceAndKeepsNobodyWaitingTooLong(int capacity, int lumpMillis) {
        // Given two servers that have seen an overload some time ago
        ModelServers model = new ModelServers(2, capacity, lumpMillis, capacity / 2);
        model.server(0).perSecond = 10.0 * capacity;
        model.run(SECOND.multipliedBy(3));
        model.server(0).perSecond = 0;
        model.run(SECOND.multipliedBy(30));

        // When ten times what can be settled comes at once
        model.server(0).perSecond = 5.0 * capacity;
        model.server(1).perSecond = 5.0 * capacity;
        long settled = model.run(SECOND.multipliedBy(5));

        // Then
        assertThat((double) settled).isGreaterThan(4.6 * capacity);
        assertThat(model.longestMillis()).isLessThan((int) ModelServers.TIMEOUT.toMillis());
        assertThat(model.server(0).chance()).isLessThan(0.2);
    }

    @Test
    void whatIsMeasuredLowIsForgotten() {
        // Given a store that was slow for some seconds, under ten times the load
        ModelServers model = new ModelServers(1, 500, 80);
        ModelServers.Server server = model.server(0);
        server.perSecond = 5_000;
        model.run(SECOND.multipliedBy(5));
        assertThat(server.crowd(2_000)).isGreaterThan(1_500);

        // When it is as fast as ever, and nothing comes for a while
        server.perSecond = 0;
        model.capacity = 10_000;
        model.run(SECOND.multipliedBy(12));

        // Then a crowd is let in whole
        assertThat(server.crowd(2_000)).isZero();
    }

    @Test
    void whoIsRefusedComesBackAtAnotherTimeThanTheOthers() {
        // Given a chance of about a tenth
        ModelServers model = new ModelServers(1, 10_000, 80);
        model.server(0).perSecond = 100_000;
        model.run(SECOND.multipliedBy(5));

        // When
        Map<Integer, Integer> byWait = new HashMap<>();
        for (int i = 0; i < 10_000; i++) {
            UnavailableException refusal = model.server(0).ask();
            if (refusal != null) {
                assertThat(refusal.reason()).isEqualTo(UnavailableException.Reason.OVERLOADED);
                byWait.merge(refusal.retryAfterSeconds(), 1, Integer::sum);
            }
        }

        // Then each of the seconds gets its part, and there are as many as settling a second's arrivals takes
        assertThat(byWait.keySet()).contains(1, 2, 5, 8).allMatch(seconds -> seconds >= 1 && seconds <= 10);
        int refused = byWait.values().stream().mapToInt(Integer::intValue).sum();
        assertThat(byWait.values())
                .allSatisfy(count -> assertThat(count).isCloseTo(refused / byWait.size(), within(refused / 10)));
    }

    @Test
    void whoWaitsForNoSettlementHasTheSameChanceAndIsNoPartOfWhatWaits() {
        // Given a chance of about a tenth
        ModelServers model = new ModelServers(1, 10_000, 80);
        ModelServers.Server server = model.server(0);
        server.perSecond = 100_000;
        model.run(SECOND.multipliedBy(3));
        double before = server.control.unsettled(0, Terms.OPEN);

        // When as many come who wait for nothing
        int admitted = 0;
        for (int i = 0; i < 1_000; i++) {
            Entry entry = server.gate.entry(0);
            if (entry.askInPassing() == null) {
                admitted++;
                assertThat(entry.ask(true)).as("asked again").isNull();
            } else {
                assertThat(entry.isRefused()).isTrue();
            }
            entry.arrived();
        }

        // Then
        assertThat((double) admitted).isCloseTo(1_000 * server.chance(), within(2.0));
        assertThat(server.control.unsettled(0, Terms.OPEN)).isEqualTo(before);

        // And where nobody waits, all of them are let in
        model = new ModelServers(1, 10_000, 80);
        for (int i = 0; i < 1_000; i++) {
            assertThat(model.server(0).gate.entry(0).askInPassing()).isNull();
        }
    }

    @Test
    void whoIsInIsNotCountedTwice() {
        // Given
        ModelServers model = new ModelServers(1, 10_000, 80);
        ModelServers.Server server = model.server(0);
        Entry entry = server.gate.entry(0);

        // When it asks and is answered again and again
        for (int i = 0; i < 3; i++) {
            assertThat(entry.ask(false)).isNull();
        }
        double coming = server.control.unsettled(0, Terms.OPEN);
        entry.arrived();
        entry.arrived();

        // Then
        assertThat(coming).isEqualTo(1);
        assertThat(server.control.unsettled(0, Terms.OPEN)).isZero();
    }

    @Test
    void whoFindsTheQueueFullIsRefusedWhateverTheChance() {
        // Given a server at rest
        SimpleMeterRegistry metrics = new SimpleMeterRegistry();
        AdmissionControl control = new AdmissionControl(
                2, new AdmissionControl.Settings(Duration.ofSeconds(2), 2000, 256), metrics, new AtomicLong()::get);
        AdmissionGate gate = control.gate(new ShardCounts(2), new ShardCounts(2));

        // Then
        assertThat(gate.refusal(1, false)).isNull();
        assertThat(Objects.requireNonNull(gate.refusal(1, true)).retryAfterSeconds())
                .isBetween(1, 2);
        assertThat(metrics.get("hongbao.admission.claims")
                        .tag("as", "refused")
                        .functionCounter()
                        .count())
                .isEqualTo(1);
        assertThat(metrics.get("hongbao.admission.claims")
                        .tag("as", "admitted")
                        .functionCounter()
                        .count())
                .isEqualTo(1);
        assertThat(metrics.get("hongbao.admission.chance").gauge().value()).isEqualTo(1);
    }
}
