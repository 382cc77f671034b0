package dev.hongbao.common.config;

import java.time.Duration;

/** The race for the shares. */
public record ClaimConfig(
        @ConfigOption(
                path = "claim.batch-size",
                range = "1 … 256 claims",
                unset = "256",
                fixed = true,
                doc = "Claims in one call of the claim script: more gain nothing, and keep the shard from" + " others.")
        int batchSize,

        @ConfigOption(
                path = "claim.settle-timeout",
                range = "100ms … 1m",
                unset = "2s",
                doc = "A claim not settled after so long is answered 503, unknown; asking again gives the same"
                        + " claim.")
        Duration settleTimeout,

        @ConfigOption(
                path = "claim.max-waiting",
                range = "1 … 10000000 claims",
                unset = "10000",
                doc = "Claims waiting for their answer in this server; further ones get 503. The server lowers the"
                        + " bound by itself to what it settles in half of claim.settle-timeout.")
        int maxWaiting) {}
