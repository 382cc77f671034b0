package dev.hongbao.draw;

import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.engine.Settlements;
import dev.hongbao.engine.Settler;
import dev.hongbao.engine.Shards;
import dev.hongbao.store.postgres.StoreClock;
import dev.hongbao.values.DrawId;
import io.vertx.sqlclient.Pool;
import java.util.List;

/** The parts of draws that the engine knows: their scripts, keys, settlers, loader, owner's tasks and comparison. */
public final class DrawMode {
    /** The parts that need no running server. */
    public static final Mode.Traits TRAITS = new Mode.Traits(
            List.of("play", "draw", "period", "end", "return"),
            (generation, draw) -> {
                DrawId id = new DrawId(draw);
                return List.of(DrawKeys.hash(generation, id), DrawKeys.schedule(generation, id));
            },
            pool -> settlers(new Settlements<>(), new DrawCatalog(new DrawStore(pool)), new DrawCleanup()),
            DrawComparison::new);

    private DrawMode() {}

    /**
     * The mode of a writer.
     *
     * @param pool of the shards' owner
     * @param catalog of this server's requests; the owner reads beside it, on its own connections
     * @param settlements get each settled play
     */
    public static Mode of(
            Loop loop,
            Pool pool,
            Shards shards,
            Quarantine quarantine,
            DrawCatalog catalog,
            Settlements<SettledPlays> settlements,
            StoreClock clock) {
        DrawStore draws = new DrawStore(pool, quarantine.forOwners());
        DrawCatalog owners = catalog.over(draws);
        DrawCleanup ended = new DrawCleanup();
        shards.whenPostgresWentBack(ended::forget);
        return new Mode(
                TRAITS,
                settlers(settlements, owners, ended),
                new DrawShardLoader(quarantine),
                List.of(
                        new DrawOwnerTask(pool, draws, owners, new DrawPlanner(pool), ended, shards, loop),
                        new HoldExpiry(pool, shards, loop, clock, HoldExpiry.HELD_LONG)));
    }

    private static List<Settler> settlers(
            Settlements<SettledPlays> settlements, DrawCatalog catalog, DrawCleanup ended) {
        return List.of(new PlaySettler(catalog, settlements), new EndSettler(ended));
    }
}
