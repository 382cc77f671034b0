package dev.hongbao.domain.play;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.draw.DrawCatalog;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.DrawStore;
import dev.hongbao.domain.draw.Play;
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

/** Requests as Postgres has them. Safe on any thread. */
public final class PlayRequestStore {
    private static final String DECIDED =
            "select id, draw, user_id, attempt, reason from play_request where id = any ($1) and status <> 'held'";

    private static final String HELD = "select from play_request where id = $1 and status = 'held'";

    private static final String PLAYS =
            "select y.draw, y.seq, y.user_id, y.prize, y.at, y.request, c.code from play as y"
                    + " left join code as c on c.draw = y.draw and c.prize = y.prize and c.nth = y.nth"
                    + " where y.request = any ($1) order by y.draw, y.seq";

    private final Pool pool;
    private final DrawCatalog catalog;

    public PlayRequestStore(Pool pool, DrawCatalog catalog) {
        this.pool = pool;
        this.catalog = catalog;
    }

    /** What became of requests, by id; those that are not decided are left out. */
    Future<Map<UUID, SettledPlayRequest>> decided(Collection<UUID> ids) {
        Tuple parameters = Tuple.tuple().addArrayOfUUID(ids.toArray(UUID[]::new));
        return pool.preparedQuery(DECIDED).execute(parameters).compose(requests -> {
            Set<DrawId> draws = new HashSet<>();
            requests.forEach(row -> draws.add(new DrawId(row.getUUID("draw"))));
            return catalog.findAll(draws)
                    .compose(terms -> pool.preparedQuery(PLAYS)
                            .execute(parameters)
                            .map(plays -> {
                                Map<UUID, List<Play>> byRequest = new HashMap<>();
                                for (Row row : plays) {
                                    Draw draw = terms.get(new DrawId(row.getUUID("draw")));
                                    if (draw != null) {
                                        byRequest
                                                .computeIfAbsent(row.getUUID("request"), id -> new ArrayList<>())
                                                .add(DrawStore.play(draw, row));
                                    }
                                }
                                Map<UUID, SettledPlayRequest> decided = new HashMap<>();
                                for (Row row : requests) {
                                    UUID id = row.getUUID("id");
                                    decided.put(id, request(row, byRequest.getOrDefault(id, List.of())));
                                }
                                return decided;
                            }));
        });
    }

    /** Whether its cost is held and it is not decided yet. */
    Future<Boolean> isHeld(UUID id) {
        return pool.preparedQuery(HELD).execute(Tuple.of(id)).map(rows -> rows.rowCount() > 0);
    }

    private static SettledPlayRequest request(Row row, List<Play> plays) {
        return new SettledPlayRequest(
                row.getUUID("id"),
                row.getUUID("attempt"),
                new DrawId(row.getUUID("draw")),
                new UserId(row.getString("user_id")),
                plays,
                row.getString("reason"));
    }
}
