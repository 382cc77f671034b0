package dev.hongbao.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.RateLimits.Limit;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.TooManyCallsException.RateDecision;
import dev.hongbao.values.UserId;
import io.github.bucket4j.TimeMeter;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RateLimitsTest {
    private static final Caller ALICE = caller("alice", Role.USER);
    private static final Caller BOB = caller("bob", Role.USER);
    private static final Caller SHOP = caller("shop", Role.SERVICE);

    private final AtomicLong nanos = new AtomicLong(1);
    private final RateLimits limits = new RateLimits(
            new RateLimits.Settings(
                    new Limit(1, 2), new Limit(10, 3), new Limit(10, 100), Limit.of(2, Duration.ofMinutes(1)), 1_000),
            new TimeMeter() {
                @Override
                public long currentTimeNanos() {
                    return nanos.get();
                }

                @Override
                public boolean isWallClockBased() {
                    return false;
                }
            });

    @Test
    void aBurstPassesThenCallsWaitAndHeadersSaySo() {
        RateDecision first = limits.claim(ALICE);
        RateDecision second = limits.claim(ALICE);
        RateDecision third = limits.claim(ALICE);

        assertThat(first).isEqualTo(new RateDecision(true, "\"claims\";q=2;w=2", "\"claims\";r=1;t=1", 0));
        assertThat(second).isEqualTo(new RateDecision(true, "\"claims\";q=2;w=2", "\"claims\";r=0;t=2", 0));
        assertThat(third).isEqualTo(new RateDecision(false, "\"claims\";q=2;w=2", "\"claims\";r=0;t=1", 1));
        assertThat(limits.claim(BOB).allowed()).isTrue();
        assertThat(limits.call(ALICE).allowed()).isTrue();

        nanos.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(limits.claim(ALICE).allowed()).isTrue();
        assertThat(limits.claim(ALICE).allowed()).isFalse();
    }

    @Test
    void theBackendAndALimitThatIsOffLetAllPassWithoutHeaders() {
        RateLimits off = new RateLimits(
                new RateLimits.Settings(Limit.OFF, Limit.OFF, Limit.OFF, Limit.OFF, 1), TimeMeter.SYSTEM_NANOTIME);
        for (int i = 0; i < 1_000; i++) {
            assertThat(limits.claim(SHOP)).isEqualTo(RateDecision.UNLIMITED);
            assertThat(limits.call(SHOP)).isEqualTo(RateDecision.UNLIMITED);
            assertThat(off.claim(ALICE)).isEqualTo(RateDecision.UNLIMITED);
        }
        assertThat(RateDecision.UNLIMITED.isLimited()).isFalse();
    }

    @Test
    void aSendCountsItsShares() {
        assertThat(limits.send(ALICE, 60).allowed()).isTrue();

        RateDecision refused = limits.send(ALICE, 90);

        assertThat(refused.allowed()).isFalse();
        assertThat(refused.retryAfterSeconds()).isEqualTo(5);
        assertThat(limits.send(ALICE, 40).allowed()).isTrue();
        assertThat(limits.send(ALICE, 1).allowed()).isFalse();
        assertThat(limits.send(BOB, 100).allowed()).isTrue();
        assertThat(limits.send(SHOP, 100).allowed() && limits.send(SHOP, 100).allowed())
                .isTrue();
    }

    @Test
    void moreSharesThanAPacketMayHaveAreLeftToItsRules() {
        assertThat(limits.send(ALICE, 101).allowed()).isTrue();
        assertThat(limits.send(ALICE, 100).allowed()).isTrue();
    }

    @Test
    void wrongPasscodesAreCountedByUserAndPacketAndRightOnesAreNot() {
        PacketId packet = PacketId.create();
        for (int i = 0; i < 10; i++) {
            RateLimits.PasscodeTry right = limits.passcode(ALICE, packet, "open");
            assertThat(right.decision().allowed()).isTrue();
            right.ended(false);
        }

        assertThat(limits.passcode(ALICE, packet, "open").decision().allowed()).isTrue();
        assertThat(limits.passcode(ALICE, packet, "open").decision().allowed()).isTrue();
        RateDecision refused = limits.passcode(ALICE, packet, "open").decision();

        assertThat(refused.allowed()).isFalse();
        assertThat(refused.retryAfterSeconds()).isEqualTo(30);
        assertThat(limits.passcode(BOB, packet, "open").decision().allowed()).isTrue();
        assertThat(limits.passcode(ALICE, PacketId.create(), "open").decision().allowed())
                .isTrue();
    }

    private static Caller caller(String user, Role role) {
        return new Caller(new UserId(user), Set.of(), role, Instant.MAX);
    }
}
