package dev.hongbao.web.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.packet.PacketId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Limits over several servers, against a model of Redis: what {@code rate.lua} does, with answers that take their time. */
class SharedRatesTest {
    private static final Caller ALICE = new Caller(new UserId("alice"), Set.of(), Role.USER, Instant.MAX);
    private static final long TICK_MILLIS = 100;
    private static final int PER_SECOND = 20;
    private static final int BURST = 40;

    private final AtomicLong nowMillis = new AtomicLong(1_000_000);
    private final Map<String, Long> comesBackAtMillis = new HashMap<>();

    private RateLimits server() {
        return new RateLimits(
                new RateLimitSettings(
                        new Limit(PER_SECOND, BURST),
                        new Limit(50, 100),
                        Limit.OFF,
                        new Limit(1_000, 10_000),
                        Limit.of(5, Duration.ofMinutes(1)),
                        1_000),
                () -> nowMillis.get() * 1_000_000);
    }

    /** One server's line to Redis. */
    private final class Line {
        private final RateLimits server;
        private final Deque<Runnable> answers = new ArrayDeque<>();
        private long answersAtMillis;

        Line(RateLimits server) {
            this.server = server;
        }

        /** Tells, if the last answers have come, and hears {@code lateMillis} later. */
        void exchange(long lateMillis) {
            if (!answers.isEmpty()) {
                if (nowMillis.get() >= answersAtMillis) {
                    answers.forEach(Runnable::run);
                    answers.clear();
                }
                return;
            }
            for (RateUse use : server.untold(500)) {
                long used = Math.max(0, comesBackAtMillis.getOrDefault(use.name(), 0L) - nowMillis.get());
                long now = Math.max(0, Math.min(used + use.millis(), use.mostMillis()));
                comesBackAtMillis.put(use.name(), nowMillis.get() + now);
                answers.add(() -> use.heard().accept(now));
            }
            answersAtMillis = nowMillis.get() + lateMillis;
        }
    }

    @Test
    void aCallerOfOneServerGetsExactlyWhatHeWouldGetWithoutTheOthers() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        RateLimits shared = server();
        RateLimits alone = server();
        Line line = new Line(shared);
        int[] pausesMillis = {0, 5, 60, 400, 3_000};
        int pause = 0;
        long exchangeAt = nowMillis.get();

        for (int call = 0; call < 20_000; call++) {
            if (random.nextInt(50) == 0) {
                pause = pausesMillis[random.nextInt(pausesMillis.length)];
            }
            long until = nowMillis.get() + (pause == 0 ? 0 : random.nextInt(pause) + 1);
            for (; exchangeAt <= until; exchangeAt += TICK_MILLIS) {
                nowMillis.set(exchangeAt);
                line.exchange(random.nextInt(50));
            }
            nowMillis.set(until);
            int count = random.nextInt(1, 400);

            assertThat(shared.claim(ALICE)).as("seed " + seed).isEqualTo(alone.claim(ALICE));
            assertThat(shared.call(ALICE)).as("seed " + seed).isEqualTo(alone.call(ALICE));
            assertThat(shared.send(ALICE, count).allowed())
                    .as("seed " + seed)
                    .isEqualTo(alone.send(ALICE, count).allowed());
        }
    }

    @Test
    void aCallerOfSeveralServersGetsOneLimitAndALittleMore() {
        for (int servers : List.of(2, 3, 8)) {
            comesBackAtMillis.clear();
            List<Line> lines =
                    Stream.generate(() -> new Line(server())).limit(servers).toList();
            int seconds = 30;
            int won = 0;

            // When she calls each of them 200 times a second
            for (int millis = 0; millis < seconds * 1_000; millis += 5) {
                nowMillis.addAndGet(5);
                for (int each = 0; each < servers; each++) {
                    won += lines.get(each).server.claim(ALICE).allowed() ? 1 : 0;
                    if ((millis + 10 * each) % TICK_MILLIS == 0) {
                        lines.get(each).exchange(5);
                    }
                }
            }

            // Then it is one limit: the first bursts are waited for up to one, and a sixteenth of the burst a server is
            // not heard of
            assertThat(won)
                    .as(servers + " servers")
                    .isBetween(
                            (int) (0.9 * PER_SECOND * seconds),
                            PER_SECOND * seconds + servers * BURST + servers * BURST / 16);
        }
    }

    @Test
    void whoEvenlySpreadsHisCallsGetsOneLimitAsWell() {
        // Given servers each of which he calls at their limit and no more
        List<Line> lines = Stream.generate(() -> new Line(server())).limit(2).toList();
        int seconds = 30;
        int won = 0;

        // When
        for (int millis = 0; millis < seconds * 1_000; millis += 1_000 / PER_SECOND) {
            nowMillis.addAndGet(1_000 / PER_SECOND);
            for (Line line : lines) {
                won += line.server.claim(ALICE).allowed() ? 1 : 0;
                if (millis % TICK_MILLIS == 0) {
                    line.exchange(5);
                }
            }
        }

        // Then it is not twice the limit
        assertThat(won).isBetween(PER_SECOND * seconds * 9 / 10, PER_SECOND * seconds + 2 * BURST);
    }

    @Test
    void whoCallsNowAndThenIsNeverToldOf() {
        RateLimits server = server();
        for (int minute = 0; minute < 1_000; minute++) {
            assertThat(server.claim(ALICE).allowed()).isTrue();
            nowMillis.addAndGet(60_000);

            assertThat(server.untold(500)).isEmpty();
        }
    }

    @Test
    void aWrongPasscodeIsToldAndOneThatWasRightAtOnceIsNot() {
        RateLimits server = server();
        RateLimits other = server();
        PacketId packet = PacketId.create();
        server.passcode(ALICE, packet, "open").ended(null);
        assertThat(server.untold(500)).isEmpty();

        // When four guesses were wrong here
        Line line = new Line(server);
        for (int guess = 0; guess < 4; guess++) {
            server.passcode(ALICE, packet, "open");
            line.exchange(0);
            line.exchange(0);
        }

        // Then few are left there
        other.passcode(ALICE, packet, "open");
        Line otherLine = new Line(other);
        otherLine.exchange(0);
        otherLine.exchange(0);
        assertThat(other.passcode(ALICE, packet, "open").decision().allowed()).isTrue();
        assertThat(other.passcode(ALICE, packet, "open").decision().allowed()).isFalse();
    }

    @Test
    void noMoreThanSoManyWaitToBeTold() {
        RateLimits server = server();
        for (int user = 0; user < 10_000; user++) {
            Caller caller = new Caller(new UserId("u" + user), Set.of(), Role.USER, Instant.MAX);
            server.claim(caller);
            server.claim(caller);
        }

        assertThat(server.untold(100)).hasSize(100);
        assertThat(server.untold(10_000)).hasSize(4_096 - 100);
        assertThat(server.untold(10_000)).isEmpty();
    }
}
