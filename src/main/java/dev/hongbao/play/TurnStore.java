package dev.hongbao.play;

import dev.hongbao.command.UserId;
import dev.hongbao.draw.Draw;
import dev.hongbao.draw.DrawCatalog;
import dev.hongbao.draw.DrawId;
import dev.hongbao.draw.DrawStore;
import dev.hongbao.draw.Play;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Turns as Postgres has them. Safe on any thread. */
public final class TurnStore {
    private static final String DECIDED =
            "select id, draw, user_id, ticket, reason from turn where id = any ($1) and status <> 'held'";

    private static final String HELD = "select from turn where id = $1 and status = 'held'";

    private static final String PLAYS = "select y.draw, y.seq, y.user_id, y.prize, y.at, y.turn, c.code from play as y"
            + " left join code as c on c.draw = y.draw and c.prize = y.prize and c.nth = y.nth"
            + " where y.turn = any ($1) order by y.draw, y.seq";

    private final Pool pool;
    private final DrawCatalog catalog;

    public TurnStore(Pool pool, DrawCatalog catalog) {
        this.pool = pool;
        this.catalog = catalog;
    }

    /** What became of turns, by id; those that are not decided are left out. */
    Future<Map<UUID, SettledTurn>> decided(Collection<UUID> ids) {
        Tuple parameters = Tuple.tuple().addArrayOfUUID(ids.toArray(UUID[]::new));
        return pool.preparedQuery(DECIDED).execute(parameters).compose(turns -> {
            Set<DrawId> draws = new HashSet<>();
            turns.forEach(row -> draws.add(new DrawId(row.getUUID("draw"))));
            return catalog.findAll(draws)
                    .compose(terms -> pool.preparedQuery(PLAYS)
                            .execute(parameters)
                            .map(plays -> {
                                Map<UUID, List<Play>> byTurn = new HashMap<>();
                                for (Row row : plays) {
                                    Draw draw = terms.get(new DrawId(row.getUUID("draw")));
                                    if (draw != null) {
                                        byTurn.computeIfAbsent(row.getUUID("turn"), id -> new ArrayList<>())
                                                .add(DrawStore.play(draw, row));
                                    }
                                }
                                Map<UUID, SettledTurn> decided = new HashMap<>();
                                for (Row row : turns) {
                                    UUID id = row.getUUID("id");
                                    decided.put(id, turn(row, byTurn.getOrDefault(id, List.of())));
                                }
                                return decided;
                            }));
        });
    }

    /** Whether its cost is held and it is not decided yet. */
    Future<Boolean> isHeld(UUID id) {
        return pool.preparedQuery(HELD).execute(Tuple.of(id)).map(rows -> rows.rowCount() > 0);
    }

    private static SettledTurn turn(Row row, List<Play> plays) {
        return new SettledTurn(
                row.getUUID("id"),
                row.getUUID("ticket"),
                new DrawId(row.getUUID("draw")),
                new UserId(row.getString("user_id")),
                plays,
                row.getString("reason"));
    }
}
