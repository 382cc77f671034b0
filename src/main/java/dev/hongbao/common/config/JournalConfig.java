package dev.hongbao.common.config;

import java.time.Duration;

/** Shards and their journals, from accepted to settled. */
public record JournalConfig(
        @ConfigOption(
                path = "shards",
                range = "1 … 256 shards",
                unset = "16",
                doc = "The number of shards. Each holds a fraction of the packets and has a journal. Fixed in"
                        + " Postgres at the first start. 64 fall evenly enough over three masters of a Redis Cluster.")
        int shards,

        @ConfigOption(
                path = "journal.poll-interval",
                range = "10ms … 1s",
                unset = "100ms",
                fixed = true,
                doc = "The interval at which an idle shard reads its journal. It bounds the wait of a claim at"
                        + " another server, and costs ten Redis calls a second.")
        Duration pollInterval,

        @ConfigOption(
                path = "journal.max-entries",
                range = "256 … 10000000 entries",
                unset = "100000",
                fixed = true,
                doc = "The most unsettled journal entries of a shard, of up to 256 claims each. At the limit,"
                        + " claims get 503, so that Redis does not fill up while Postgres is away.")
        int maxEntries) {}
