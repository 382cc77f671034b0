package dev.hongbao.server;

import dev.hongbao.domain.campaign.CampaignCatalog;
import dev.hongbao.domain.campaign.CampaignOwnerTask;
import dev.hongbao.domain.campaign.CampaignService;
import dev.hongbao.domain.campaign.CampaignShardLoader;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.domain.rain.RainCatalog;
import dev.hongbao.domain.rain.RainService;
import dev.hongbao.domain.reconcile.CampaignComparison;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.engine.journal.KeyLoader;
import dev.hongbao.engine.journal.Mode;
import dev.hongbao.engine.postgres.StoreClock;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.util.List;

/**
 * The campaigns' part of the engine, and that of rains, which are campaigns: what they add to packets. They have no journal items of
 * their own, since a claim on a pool is a claim on a packet. Thread-safe but for the service.
 */
final class Campaigns {
    static final Mode.Traits TRAITS =
            new Mode.Traits(List.of(), (generation, unit) -> List.of(), pool -> List.of(), CampaignComparison::new);

    private final Pool pool;
    private final Pool ownerPool;
    private final Shards shards;
    private final CampaignCatalog catalog;
    private final RainCatalog rains;
    private final StoreClock clock;

    Campaigns(Foundation base) {
        this.pool = base.pools().requests();
        this.ownerPool = base.pools().owner();
        this.shards = base.shards();
        this.catalog = new CampaignCatalog(pool, base.pools().books());
        this.rains = new RainCatalog(pool);
        this.clock = base.clock();
        shards.whenPostgresWentBack(catalog::forgetAll);
        shards.whenPostgresWentBack(rains::forgetAll);
    }

    /** For one writer. */
    Mode mode() {
        return new Mode(
                TRAITS, List.of(), new CampaignShardLoader(), List.of(new CampaignOwnerTask(ownerPool, shards)));
    }

    /** What never changes of rains, and whom their channels are for. */
    RainCatalog rainCatalog() {
        return rains;
    }

    RainService rains(Vertx vertx, KeyLoader loading, PacketService packets, Restrictions restrictions) {
        return new RainService(vertx, pool, shards, rains, loading, packets, restrictions, clock);
    }

    CampaignService campaigns(KeyLoader loading, PacketService packets) {
        return new CampaignService(pool, shards, catalog, loading, packets, clock);
    }
}
