package dev.hongbao.webhook;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An attempt to deliver a message.
 *
 * @param n grows with time
 * @param message its {@code webhook-id}
 * @param after the position before it, from where it can be delivered again
 * @param events the number of its events
 */
record Delivery(long n, String message, String after, int events, Instant at, Answer answer) {
    /**
     * The receiver's answer.
     *
     * @param status of the answer; null for none
     * @param error the reason for no answer; null when there was one
     * @param millis its duration
     */
    public record Answer(@Nullable Integer status, @Nullable String error, int millis) {
        private static final int GONE = 410;

        /** Whether the receiver accepted it. */
        public boolean isDelivered() {
            return status != null && status / 100 == 2;
        }

        /** Whether the receiver wants no more messages. */
        public boolean isGone() {
            return status != null && status == GONE;
        }
    }
}
