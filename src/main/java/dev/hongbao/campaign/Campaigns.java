package dev.hongbao.campaign;

import dev.hongbao.access.RateLimits;
import dev.hongbao.access.Restrictions;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.engine.Mode;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.engine.Shards;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.packet.PacketService;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Members;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Clock;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * The campaigns and rains of a server: what its event loops share, the services of a loop, and the parts that the engine knows. They have no
 * journal items, since a claim on a pool is a claim on a packet. Thread-safe; a loop's services belong to that loop.
 */
public final class Campaigns {
    /** The parts that need no running server. */
    public static final Mode.Traits TRAITS =
            new Mode.Traits(List.of(), (generation, unit) -> List.of(), pool -> List.of(), CampaignComparison::new);

    private final RainCatalog rainCatalog;
    private final CampaignCatalog catalog;
    private final Pool pool;
    private final Shards shards;
    private final Clock clock;

    /**
     * @param pool of the requests
     * @param lengthy for the sums of a campaign's pools
     */
    public Campaigns(Pool pool, Pool lengthy, Shards shards, Quarantine quarantine, Clock clock) {
        this.pool = pool;
        this.shards = shards;
        this.clock = clock;
        this.catalog = new CampaignCatalog(pool, lengthy, quarantine);
        this.rainCatalog = new RainCatalog(pool, quarantine);
        shards.whenPostgresWentBack(catalog::forgetAll);
        shards.whenPostgresWentBack(rainCatalog::forgetAll);
    }

    /** The campaigns of the current event loop. */
    public CampaignService service(KeyLoader keys, PacketService packets) {
        return new CampaignService(pool, shards, catalog, keys, packets, clock);
    }

    /** The rains of the current event loop. */
    public RainService rains(Vertx vertx, KeyLoader keys, PacketService packets, Restrictions restrictions) {
        return new RainService(vertx, pool, shards, rainCatalog, keys, packets, restrictions, clock);
    }

    /** The routes of campaigns and rains, by {@code operationId}. */
    public static Map<String, Route> routes(
            CampaignService campaigns, RainService rains, RateLimits rates, HttpFace face) {
        return CampaignRoutes.of(campaigns, rains, rates, face);
    }

    /** The audience of a group; it never changes. Completed at once for a group that is no channel of a rain. */
    public Future<Members> members(GroupId group) {
        return rainCatalog.members(group);
    }

    /** The rains with these ids, from memory or one query. Unknown rains are absent. */
    public Future<Map<CampaignId, Rain>> findRains(Collection<CampaignId> ids) {
        return rainCatalog.findAll(ids);
    }

    /** The mode of a writer. @param pool of the shards' owner */
    public Mode mode(Pool pool) {
        return new Mode(TRAITS, List.of(), new CampaignShardLoader(), List.of(new CampaignOwnerTask(pool, shards)));
    }
}
