package dev.hongbao.campaign;

import dev.hongbao.engine.Mode;
import dev.hongbao.engine.Shards;
import io.vertx.sqlclient.Pool;
import java.util.List;

/**
 * The parts of campaigns and rains that the engine knows: their loader, owner's task and comparison. They have no journal items, since a claim on a
 * pool is a claim on a packet.
 */
public final class CampaignMode {
    /** The parts that need no running server. */
    public static final Mode.Traits TRAITS =
            new Mode.Traits(List.of(), (generation, unit) -> List.of(), pool -> List.of(), CampaignComparison::new);

    private CampaignMode() {}

    /**
     * The mode of a writer.
     *
     * @param pool of the shards' owner
     */
    public static Mode of(Pool pool, Shards shards) {
        return new Mode(TRAITS, List.of(), new CampaignShardLoader(), List.of(new CampaignOwnerTask(pool, shards)));
    }
}
