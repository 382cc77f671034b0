package dev.hongbao.ws;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MessageRateTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private static int allowed(FrameReader.MessageRate rate, int tries, long nowNanos) {
        int allowed = 0;
        for (int i = 0; i < tries; i++) {
            if (rate.allows(nowNanos)) {
                allowed++;
            }
        }
        return allowed;
    }

    @Test
    void twiceASecondsFramesAtOnceThenSoManyASecond() {
        // Given
        FrameReader.MessageRate rate = new FrameReader.MessageRate(20, 0);

        // Then
        assertThat(allowed(rate, 100, 0)).isEqualTo(40);
        assertThat(allowed(rate, 100, SECOND)).isEqualTo(20);
        assertThat(allowed(rate, 100, 60 * SECOND)).isEqualTo(40);
    }

    @Test
    void whoGoesOnRegardlessIsHostile() {
        // Given
        FrameReader.MessageRate rate = new FrameReader.MessageRate(20, 0);

        // When
        allowed(rate, 40 + 100, 0);

        // Then
        assertThat(rate.isHostile()).isFalse();
        allowed(rate, 1, 0);
        assertThat(rate.isHostile()).isTrue();
    }

    @Test
    void whoCalmsDownIsForgiven() {
        // Given
        FrameReader.MessageRate rate = new FrameReader.MessageRate(20, 0);

        // When
        for (int second = 0; second < 100; second += 3) {
            allowed(rate, 60, second * SECOND);
        }

        // Then
        assertThat(rate.isHostile()).isFalse();
    }

    @Test
    void aFloodIsToldOnceASecondsWorth() {
        // Given
        FrameReader.MessageRate rate = new FrameReader.MessageRate(20, 0);
        allowed(rate, 40, 0);

        // When
        int told = 0;
        for (int i = 0; i < 60; i++) {
            rate.allows(0);
            if (rate.isNew()) {
                told++;
            }
        }

        // Then
        assertThat(told).isEqualTo(3);
    }
}
