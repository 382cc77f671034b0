package dev.hongbao.domain.campaign;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.engine.postgres.SharedQueries;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import org.jspecify.annotations.Nullable;

/** What never changes of campaigns: a bounded cache over Postgres. Thread-safe. */
public final class CampaignCatalog {
    /** At up to 100 KB for one with a list of users, 2 KB mostly. */
    private static final int MAX_CAMPAIGNS = 1_000;

    private final CampaignStore store;
    private final CampaignStore reports;
    private final SharedQueries<CampaignId, @Nullable Campaign> queries = new SharedQueries<>();
    private final Cache<CampaignId, Campaign> campaigns =
            Caffeine.newBuilder().maximumSize(MAX_CAMPAIGNS).build();

    /** @param books whose statements may take minutes */
    public CampaignCatalog(Pool pool, Pool books) {
        this.store = new CampaignStore(pool);
        this.reports = new CampaignStore(books);
    }

    CampaignStore store() {
        return store;
    }

    /** For reports: a line adds up all pools of a day and a product. */
    CampaignStore reports() {
        return reports;
    }

    /** The campaign; null for an unknown one, which is not remembered. */
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

    /** Postgres went back: what is cached may never have been made. */
    public void forgetAll() {
        campaigns.invalidateAll();
    }
}
