package dev.hongbao.common.config;

import java.time.Duration;

/**
 * From accepted to settled.
 *
 * @param shards how many there are; only the first start on a database decides
 * @param pollInterval how often an idle shard looks into its journal
 * @param maxEntries accepted claims a shard may hold that are not settled yet
 */
public record JournalConfig(int shards, Duration pollInterval, int maxEntries) {
    public JournalConfig {
        Options.SHARDS.require(shards);
        Options.JOURNAL_POLL_INTERVAL.require(pollInterval);
        Options.JOURNAL_MAX_ENTRIES.require(maxEntries);
    }

    static JournalConfig from(OptionValues values) {
        return new JournalConfig(
                values.get(Options.SHARDS),
                values.get(Options.JOURNAL_POLL_INTERVAL),
                values.get(Options.JOURNAL_MAX_ENTRIES));
    }
}
