package dev.hongbao.domain.webhook;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An attempt to deliver a message.
 *
 * @param n grows with time
 * @param message its {@code webhook-id}
 * @param after the position before it: where to begin to deliver it again
 * @param events how many it tells
 */
public record Delivery(long n, String message, String after, int events, Instant at, Answer answer) {
    /**
     * What came back.
     *
     * @param status of the answer; null for none
     * @param error why there was none; null when there was
     * @param millis how long it took
     */
    public record Answer(@Nullable Integer status, @Nullable String error, int millis) {
        private static final int GONE = 410;

        /** Whether the receiver has it. */
        public boolean isDelivered() {
            return status != null && status / 100 == 2;
        }

        /** Whether the receiver wants no more. */
        public boolean isGone() {
            return status != null && status == GONE;
        }
    }
}
