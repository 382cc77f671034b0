package dev.hongbao.domain.play;

import java.time.Duration;

/**
 * The configured limits of playing.
 *
 * @param batchSize plays in one call of the script, 1 to 256
 * @param maxQueued requests that may wait for their hold, and for the script, on one event loop
 * @param maxUnsettled decided requests that may wait for their settlement, on one event loop
 * @param maxJournalEntries unsettled journal entries a shard
 * @param timeout how long a request waits for its answer before it is unknown
 */
public record PlaySettings(int batchSize, int maxQueued, int maxUnsettled, int maxJournalEntries, Duration timeout) {
    public PlaySettings {
        if (batchSize < 1 || batchSize > 256) {
            throw new IllegalArgumentException("plays in one call are from 1 to 256, not " + batchSize);
        }
    }
}
