package dev.hongbao.domain.campaign;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.engine.postgres.SharedQueries;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import org.jspecify.annotations.Nullable;

/** The fixed facts of campaigns: a bounded cache over Postgres. Thread-safe. */
public final class CampaignCatalog {
    /** Up to 100 KB for a campaign with a list of users, usually 2 KB. */
    private static final int MAX_CAMPAIGNS = 1_000;

    private final CampaignStore store;
    private final CampaignStore reports;
    private final SharedQueries<CampaignId, @Nullable Campaign> queries = new SharedQueries<>();
    private final Cache<CampaignId, Campaign> campaigns =
            Caffeine.newBuilder().maximumSize(MAX_CAMPAIGNS).build();

    /** @param books a pool whose statements may take minutes */
    public CampaignCatalog(Pool pool, Pool books) {
        this.store = new CampaignStore(pool);
        this.reports = new CampaignStore(books);
    }

    CampaignStore store() {
        return store;
    }

    /** A store for reports, whose lines sum all pools of a day and a product. */
    CampaignStore reports() {
        return reports;
    }

    /** The campaign. Null for an unknown one, which is not cached. */
    Future<@Nullable Campaign> find(CampaignId id) {
        Campaign known = campaigns.getIfPresent(id);
        return known != null
                ? Future.succeededFuture(known)
                : queries.ask(
                        id,
                        () -> store.find(id).map(found -> {
                            if (found != null) {
                                campaigns.put(id, found);
                            }
                            return found;
                        }));
    }

    /** Drops everything. For a Postgres that stepped back: cached campaigns may never have been made. */
    public void forgetAll() {
        campaigns.invalidateAll();
    }
}
