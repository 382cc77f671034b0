package dev.hongbao.common.config;

import java.time.Duration;

/** Batching, waiting and admission of claims. */
public record ClaimConfig(
        @ConfigOption(
                path = "claim.batch-size",
                range = "1 … 256 claims",
                unset = "256",
                fixed = true,
                doc = "Claims in one call of the claim script. More gain nothing, and delay other calls of the"
                        + " shard.")
        int batchSize,

        @ConfigOption(
                path = "claim.settle-timeout",
                range = "100ms … 1m",
                unset = "2s",
                doc = "A claim that is not settled after this time is answered 503 (unknown). A repetition gets the"
                        + " same claim.")
        Duration settleTimeout,

        @ConfigOption(
                path = "claim.max-waiting",
                range = "1 … 10000000 claims",
                unset = "10000",
                doc = "The most claims that wait for their answer in this server; further ones get 503. The server"
                        + " lowers this limit to the number that it settles in half of claim.settle-timeout.")
        int maxWaiting) {}
