package dev.hongbao.domain.webhook;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A URL of the host application that receives the outbox's events.
 *
 * @param position the cursor after which nothing is delivered yet
 */
public record Webhook(UUID id, Terms terms, Instant createdAt, String position, State state) {
    /**
     * What the host asked for.
     *
     * @param types of events; at least one
     * @param batch events of one message at the most, 1 … 1000
     */
    public record Terms(String url, List<String> types, int batch) {
        public Terms {
            types = List.copyOf(types);
        }
    }

    /**
     * How it goes.
     *
     * @param attempts failed ones in a row
     * @param failingSince null when the latest attempt went well
     * @param nextAt when it is tried next
     * @param reason why it is disabled, or {@code paused}; null when it is neither
     */
    public record State(
            int attempts,
            @Nullable Instant failingSince,
            Instant nextAt,
            @Nullable String reason) {
        /** Whether the host paused it. */
        public boolean isPaused() {
            return "paused".equals(reason);
        }

        public boolean isDisabled() {
            return reason != null && !isPaused();
        }
    }
}
