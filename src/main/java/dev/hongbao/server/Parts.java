package dev.hongbao.server;

import dev.hongbao.domain.feed.Feeds;
import dev.hongbao.domain.profile.Profiles;
import dev.hongbao.engine.journal.Mode;
import dev.hongbao.web.api.EventText;
import java.time.Duration;
import java.util.List;

/** The parts of an engine, each made of the {@link Foundation} and of the parts before it: a new mode is named here. Thread-safe. */
record Parts(Packets packets, Draws draws, Campaigns campaigns, Feeds feeds, Accounting accounting, Profiles profiles) {
    /** How often a server looks for what others wrote into the groups' feeds: nobody sees a tenth of a second. */
    private static final Duration FEED_POLL = Duration.ofMillis(100);

    static Parts of(Foundation base) {
        Pools pools = base.pools();
        var feed = base.config().domain().feed();
        Packets packets = new Packets(base);
        Draws draws = new Draws(base);
        Campaigns campaigns = new Campaigns(base);
        Profiles profiles = new Profiles(pools.requests());
        Feeds feeds = new Feeds(
                base.vertx(),
                new Feeds.Pools(pools.requests(), pools.owner(), pools.lengthy()),
                base.shards(),
                new Feeds.Packets(packets.store(), packets.catalog(), packets.ended()),
                new Feeds.Settled(packets.settlements(), draws.settlements()),
                new EventText(packets.catalog(), packets.ended(), draws.catalog(), campaigns.rainCatalog(), profiles),
                new Feeds.Pace(FEED_POLL, feed.retention()));
        Accounting accounting = new Accounting(base);
        return new Parts(packets, draws, campaigns, feeds, accounting, profiles);
    }

    /** For one writer. */
    List<Mode> modes() {
        return List.of(packets.mode(), draws.mode(), campaigns.mode());
    }
}
