package dev.hongbao.common.config;

import java.time.Duration;

/**
 * The groups' feeds.
 *
 * @param pollInterval how often a server looks for what other servers wrote
 * @param retention how long events are kept
 */
public record FeedConfig(Duration pollInterval, Duration retention) {
    public FeedConfig {
        Options.FEED_POLL_INTERVAL.require(pollInterval);
        Options.FEED_RETENTION.require(retention);
    }

    static FeedConfig from(OptionValues values) {
        return new FeedConfig(values.get(Options.FEED_POLL_INTERVAL), values.get(Options.FEED_RETENTION));
    }
}
