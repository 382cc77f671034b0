package dev.hongbao.domain.ledger;

/**
 * A wallet's balance of one asset.
 *
 * @param amount minor units, 0 or more
 */
public record Balance(Asset asset, long amount) {}
