package dev.hongbao.common.config;

import java.time.Duration;

/**
 * The race for the shares.
 *
 * @param batchSize claims in one call of the script
 * @param settleTimeout how long a request waits before it is answered as unknown
 * @param maxWaiting claims waiting for their answer in this server
 */
public record ClaimConfig(int batchSize, Duration settleTimeout, int maxWaiting) {
    public ClaimConfig {
        Options.CLAIM_BATCH_SIZE.require(batchSize);
        Options.CLAIM_SETTLE_TIMEOUT.require(settleTimeout);
        Options.CLAIM_MAX_WAITING.require(maxWaiting);
    }

    static ClaimConfig from(OptionValues values) {
        return new ClaimConfig(
                values.get(Options.CLAIM_BATCH_SIZE),
                values.get(Options.CLAIM_SETTLE_TIMEOUT),
                values.get(Options.CLAIM_MAX_WAITING));
    }
}
