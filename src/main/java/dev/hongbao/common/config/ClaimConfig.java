package dev.hongbao.common.config;

import java.time.Duration;

/**
 * The race for the shares.
 *
 * @param batchSize claims in one call of the script
 * @param settleTimeout how long a request waits before it is answered as unknown
 * @param maxWaiting claims waiting for their answer in this server
 * @param admission what happens when more claims come than can be settled
 */
public record ClaimConfig(int batchSize, Duration settleTimeout, int maxWaiting, Admission admission) {
    /** What happens when more claims come than can be settled. */
    public enum Admission {
        /** As many wait as may; the next are refused. */
        OFF,
        /** As many are let in as are settled, on all servers by the same chance. */
        ON
    }

    public ClaimConfig {
        Options.CLAIM_BATCH_SIZE.require(batchSize);
        Options.CLAIM_SETTLE_TIMEOUT.require(settleTimeout);
        Options.CLAIM_MAX_WAITING.require(maxWaiting);
        Options.CLAIM_ADMISSION.require(admission);
    }

    static ClaimConfig from(OptionValues values) {
        return new ClaimConfig(
                values.get(Options.CLAIM_BATCH_SIZE),
                values.get(Options.CLAIM_SETTLE_TIMEOUT),
                values.get(Options.CLAIM_MAX_WAITING),
                values.get(Options.CLAIM_ADMISSION));
    }
}
