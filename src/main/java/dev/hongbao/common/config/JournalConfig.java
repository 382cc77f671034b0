package dev.hongbao.common.config;

import java.time.Duration;

/** From accepted to settled. */
public record JournalConfig(
        @ConfigOption(
                path = "shards",
                range = "1 … 256 shards",
                unset = "16",
                doc = "Fractions of packets with a journal each; fixed in Postgres at the first start. Over three"
                        + " masters of a Redis Cluster 64 fall evenly enough.")
        int shards,

        @ConfigOption(
                path = "journal.poll-interval",
                range = "10ms … 1s",
                unset = "100ms",
                fixed = true,
                doc = "How often an idle shard looks into its journal: what a claim at another server waits at"
                        + " most, and ten calls of Redis a second.")
        Duration pollInterval,

        @ConfigOption(
                path = "journal.max-entries",
                range = "256 … 10000000 entries",
                unset = "100000",
                fixed = true,
                doc =
                        "Journal entries, of up to 256 claims each, that a shard may hold unsettled; beyond, claims get 503,"
                                + " so that a Postgres that is away does not fill Redis.")
        int maxEntries) {}
