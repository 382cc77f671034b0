package dev.hongbao.webhook;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A URL of the host application that receives the outbox's events.
 *
 * @param position the cursor from which the deliveries continue
 * @param attempts failed ones in a row
 * @param failingSince null after a successful attempt
 * @param nextAt time of the next attempt
 * @param reason of its being disabled, or {@code paused}; null when it is neither
 */
record Webhook(
        UUID id,
        Terms terms,
        Instant createdAt,
        String position,
        int attempts,
        @Nullable Instant failingSince,
        Instant nextAt,
        @Nullable String reason) {
    /**
     * The host's terms.
     *
     * @param types of events; at least one
     * @param batch the most events of one message, 1 … 1000
     */
    public record Terms(String url, List<String> types, int batch) {
        public Terms {
            types = List.copyOf(types);
        }
    }

    public boolean isPaused() {
        return "paused".equals(reason);
    }

    public boolean isDisabled() {
        return reason != null && !isPaused();
    }
}
