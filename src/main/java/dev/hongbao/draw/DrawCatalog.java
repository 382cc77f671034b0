package dev.hongbao.draw;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.store.postgres.RowCache;
import dev.hongbao.values.DrawId;
import io.vertx.core.Future;
import java.util.Collection;
import java.util.List;

/**
 * The terms of draws: a bounded cache over Postgres. Only the end may change, to an earlier one, and the script reports that. Thread-safe.
 */
final class DrawCatalog extends RowCache<DrawId, Draw> {
    /** About 64 MB. A draw takes usually 2 KB, and more with long lists of users and prizes. */
    private static final long MAX_BYTES = 64L << 20;

    private static final int USER_BYTES = 120;
    private static final int PRIZE_BYTES = 500;
    private static final int REST_BYTES = 1_500;

    private final DrawStore store;
    private final Cache<DrawId, Draw> draws;

    public DrawCatalog(DrawStore store) {
        this(
                store,
                Caffeine.newBuilder()
                        .maximumWeight(MAX_BYTES)
                        .weigher((DrawId id, Draw draw) -> bytes(draw.definition()))
                        .executor(Runnable::run)
                        .build());
    }

    private DrawCatalog(DrawStore store, Cache<DrawId, Draw> draws) {
        super(draws, Draw::id);
        this.store = store;
        this.draws = draws;
    }

    private static int bytes(DrawDefinition definition) {
        return REST_BYTES
                + USER_BYTES * (definition.allow().size() + definition.deny().size())
                + PRIZE_BYTES * definition.allPrizes().size();
    }

    /** A view of this cache that loads through another store. A settlement must not queue behind requests. */
    public DrawCatalog over(DrawStore other) {
        return new DrawCatalog(other, draws);
    }

    @Override
    protected Future<List<Draw>> read(Collection<DrawId> ids) {
        return store.find(ids);
    }
}
