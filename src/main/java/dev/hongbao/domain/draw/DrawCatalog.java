package dev.hongbao.domain.draw;

import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.engine.postgres.RowCache;
import io.vertx.core.Future;
import java.util.Collection;
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

    private final RowCache<DrawId, Draw> draws;

    public DrawCatalog(DrawStore store) {
        this(new RowCache<>(
                Caffeine.newBuilder()
                        .maximumWeight(MAX_BYTES)
                        .weigher((DrawId id, Draw draw) -> bytes(draw.definition()))
                        .build(),
                Draw::id,
                store::find));
    }

    private DrawCatalog(RowCache<DrawId, Draw> draws) {
        this.draws = draws;
    }

    private static int bytes(DrawDefinition definition) {
        return REST_BYTES
                + USER_BYTES * (definition.allow().size() + definition.deny().size())
                + PRIZE_BYTES * definition.allPrizes().size();
    }

    /** A view of this cache that loads through another store. A settlement must not queue behind requests. */
    public DrawCatalog over(DrawStore other) {
        return new DrawCatalog(draws.over(other::find));
    }

    /** The draw. Null for an unknown one. */
    public Future<@Nullable Draw> find(DrawId id) {
        return draws.find(id);
    }

    /** Many draws. Unknown draws are absent. */
    public Future<Map<DrawId, Draw>> findAll(Collection<DrawId> ids) {
        return draws.findAll(ids);
    }

    /** Null when it is not cached. */
    public @Nullable Draw cached(DrawId id) {
        return draws.cached(id);
    }

    /** Drops everything, as {@link RowCache#forgetAll}. */
    public void forgetAll() {
        draws.forgetAll();
    }

    /** Drops a draw that was ended early, on this server. */
    void forget(DrawId id) {
        draws.forget(id);
    }
}
