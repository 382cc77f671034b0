package dev.hongbao.domain.claim;

import java.time.Duration;

/**
 * The configured limits of claiming.
 *
 * @param batchSize claims in one call of the script, 1 to 256
 * @param maxQueued claims that may wait for the script, on one event loop
 * @param maxUnsettled accepted claims that may wait for their settlement, on one event loop
 * @param maxJournalEntries unsettled journal entries a shard
 * @param timeout how long a claim waits for its answer before it is unknown
 * @param slow a claim that takes longer is logged; 0 for none
 */
public record ClaimSettings(
        int batchSize, int maxQueued, int maxUnsettled, int maxJournalEntries, Duration timeout, Duration slow) {
    public ClaimSettings {
        if (batchSize < 1 || batchSize > 256) {
            throw new IllegalArgumentException("claims in one call are from 1 to 256, not " + batchSize);
        }
    }
}
