/** The race for the shares: early answers, batches, the claim script, waiting for the settlement, and what a settled batch writes. Each event loop has its own batcher and its own Redis connection. */
@NullMarked
package dev.hongbao.domain.claim;

import org.jspecify.annotations.NullMarked;
