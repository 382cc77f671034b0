package dev.hongbao.domain.ledger;

/** What a wallet holds of one asset. @param amount minor units, 0 or more */
public record Balance(Asset asset, long amount) {}
