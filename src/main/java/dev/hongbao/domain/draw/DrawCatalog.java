package dev.hongbao.domain.draw;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.engine.postgres.SharedQueries;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The terms of draws: a bounded cache over Postgres. Only the end may change, to an earlier one, and the script reports that. Thread-safe.
 */
public final class DrawCatalog {
    /** About 64 MB. A draw takes usually 2 KB, and more with long lists of users and prizes. */
    private static final long MAX_BYTES = 64L << 20;

    private static final int USER_BYTES = 120;
    private static final int PRIZE_BYTES = 500;
    private static final int REST_BYTES = 1_500;

    private final DrawStore store;
    private final SharedQueries<DrawId, @Nullable Draw> queries = new SharedQueries<>();
    private final Cache<DrawId, Draw> draws;

    public DrawCatalog(DrawStore store) {
        this(
                store,
                Caffeine.newBuilder()
                        .maximumWeight(MAX_BYTES)
                        .weigher((DrawId id, Draw draw) -> bytes(draw.definition()))
                        .build());
    }

    private static int bytes(DrawDefinition definition) {
        return REST_BYTES
                + USER_BYTES * (definition.allow().size() + definition.deny().size())
                + PRIZE_BYTES * definition.allPrizes().size();
    }

    private DrawCatalog(DrawStore store, Cache<DrawId, Draw> draws) {
        this.store = store;
        this.draws = draws;
    }

    /** A view of this cache that loads through another store. A settlement must not queue behind requests. */
    public DrawCatalog over(DrawStore other) {
        return new DrawCatalog(other, draws);
    }

    /** The draw. Null for an unknown one, which is not cached. */
    public Future<@Nullable Draw> find(DrawId id) {
        Draw known = draws.getIfPresent(id);
        return known != null
                ? Future.succeededFuture(known)
                : queries.ask(id, () -> findAll(List.of(id)).map(found -> found.get(id)));
    }

    /** Many draws. Unknown draws are absent. */
    public Future<Map<DrawId, Draw>> findAll(Collection<DrawId> ids) {
        Map<DrawId, Draw> found = new HashMap<>();
        List<DrawId> missing = new ArrayList<>();
        for (DrawId id : ids) {
            Draw draw = draws.getIfPresent(id);
            if (draw == null) {
                missing.add(id);
            } else {
                found.put(id, draw);
            }
        }
        if (missing.isEmpty()) {
            return Future.succeededFuture(found);
        }
        return store.find(missing).map(rows -> {
            for (Draw draw : rows) {
                draws.put(draw.id(), draw);
                found.put(draw.id(), draw);
            }
            return found;
        });
    }

    /** Null when it is not cached. */
    public @Nullable Draw cached(DrawId id) {
        return draws.getIfPresent(id);
    }

    /** Drops everything. For a Postgres that stepped back: cached draws may never have been made. */
    public void forgetAll() {
        draws.invalidateAll();
    }

    /** Drops a draw that was ended early, on this server. */
    void forget(DrawId id) {
        draws.invalidate(id);
    }
}
