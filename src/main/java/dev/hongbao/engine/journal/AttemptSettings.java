package dev.hongbao.engine.journal;

import java.time.Duration;

/**
 * The configured limits of the attempts of one mode.
 *
 * @param batchSize attempts in one call of the script, 1 to 256
 * @param maxQueued attempts that may wait for the script, on one event loop; plays count while they wait for their hold, too
 * @param maxUnsettled accepted attempts that may wait for their settlement, on one event loop
 * @param maxJournalEntries unsettled journal entries of a shard
 * @param timeout how long an attempt waits for its answer; then it is unknown
 */
public record AttemptSettings(int batchSize, int maxQueued, int maxUnsettled, int maxJournalEntries, Duration timeout) {
    public AttemptSettings {
        if (batchSize < 1 || batchSize > 256) {
            throw new IllegalArgumentException("attempts in one call are from 1 to 256, not " + batchSize);
        }
    }
}
