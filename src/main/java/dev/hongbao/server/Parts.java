package dev.hongbao.server;

import dev.hongbao.domain.feed.Feeds;
import dev.hongbao.domain.profile.Profiles;
import dev.hongbao.engine.journal.Mode;
import dev.hongbao.engine.postgres.StoreClock;
import dev.hongbao.engine.shard.Shards;
import dev.hongbao.web.api.EventText;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.util.List;

/** The parts of an engine, each made of the {@link Foundation} and of the parts before it: a new mode is named here. Safe on any thread. */
record Parts(Packets packets, Draws draws, Campaigns campaigns, Feeds feeds, Accounting accounting, Profiles profiles) {

    static Parts of(Foundation base) {
        Vertx vertx = base.vertx();
        Pools pools = base.pools();
        Pool requests = pools.requests();
        Shards shards = base.shards();
        StoreClock clock = base.clock();
        var web = base.config().web();
        var domain = base.config().domain();
        Packets packets = new Packets(
                vertx,
                requests,
                pools.owner(),
                shards,
                base.quarantine(),
                web.limits().wrongPasscodes().perPacket(),
                base.metrics(),
                clock);
        Draws draws = new Draws(
                vertx,
                requests,
                pools.owner(),
                shards,
                base.quarantine(),
                domain.claim().maxWaiting(),
                base.metrics(),
                clock);
        Campaigns campaigns = new Campaigns(requests, pools.owner(), shards, clock);
        Profiles profiles = new Profiles(requests);
        Feeds feeds = new Feeds(
                vertx,
                new Feeds.Pools(requests, pools.owner(), pools.lengthy()),
                shards,
                new Feeds.Packets(packets.catalog(), packets.ended()),
                new EventText(packets.catalog(), packets.ended(), draws.catalog(), campaigns.rainCatalog(), profiles),
                new Feeds.Pace(domain.feed().pollInterval(), domain.feed().retention()));
        Accounting accounting = new Accounting(pools, shards, base.metrics());
        return new Parts(packets, draws, campaigns, feeds, accounting, profiles);
    }

    /** For one writer. */
    List<Mode> modes() {
        return List.of(packets.mode(), draws.mode(), campaigns.mode());
    }
}
