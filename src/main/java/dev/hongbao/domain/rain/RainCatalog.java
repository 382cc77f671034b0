package dev.hongbao.domain.rain;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Members;
import dev.hongbao.domain.campaign.CampaignId;
import dev.hongbao.domain.feed.FeedService;
import dev.hongbao.engine.postgres.SharedQueries;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The fixed facts of rains: a bounded cache over Postgres. Thread-safe. */
public final class RainCatalog implements FeedService.Channels {
    /** About 10 KB for a rain with many groups, usually 2 KB. */
    private static final int MAX_RAINS = 1_000;

    private final RainStore store;
    private final SharedQueries<CampaignId, @Nullable Rain> queries = new SharedQueries<>();
    private final Cache<CampaignId, Rain> rains =
            Caffeine.newBuilder().maximumSize(MAX_RAINS).build();

    public RainCatalog(Pool pool) {
        this.store = new RainStore(pool);
    }

    RainStore store() {
        return store;
    }

    /** The rain. Null for an unknown one, which is not cached. */
    Future<@Nullable Rain> find(CampaignId id) {
        Rain known = rains.getIfPresent(id);
        return known != null
                ? Future.succeededFuture(known)
                : queries.ask(id, () -> findAll(List.of(id)).map(found -> found.get(id)));
    }

    /** Many rains. Unknown rains are absent. */
    public Future<Map<CampaignId, Rain>> findAll(Collection<CampaignId> ids) {
        Map<CampaignId, Rain> found = new HashMap<>();
        List<CampaignId> missing = new ArrayList<>();
        for (CampaignId id : ids) {
            Rain rain = rains.getIfPresent(id);
            if (rain == null) {
                missing.add(id);
            } else {
                found.put(id, rain);
            }
        }
        if (missing.isEmpty()) {
            return Future.succeededFuture(found);
        }
        return store.find(missing).map(rows -> {
            for (Rain rain : rows) {
                rains.put(rain.id(), rain);
                found.put(rain.id(), rain);
            }
            return found;
        });
    }

    @Override
    public Future<Members> members(GroupId group) {
        UUID id = group.rain();
        if (id == null) {
            return Future.succeededFuture(Members.of(group));
        }
        return find(new CampaignId(id))
                .map(rain -> rain == null || !rain.channel().equals(group) ? Members.of(group) : rain.members());
    }

    /** Drops everything. For a Postgres that stepped back: cached rains may never have been made. */
    public void forgetAll() {
        rains.invalidateAll();
    }
}
