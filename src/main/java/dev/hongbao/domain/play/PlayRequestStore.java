package dev.hongbao.domain.play;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.draw.DrawCatalog;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.DrawStore;
import dev.hongbao.domain.draw.Play;
import dev.hongbao.domain.play.PlayAttempt.AttemptKey;
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
import org.jspecify.annotations.Nullable;

/** Requests in Postgres. Thread-safe. */
public final class PlayRequestStore {
    private static final String RETURNED =
            "select user_id, attempt, reason from play_request where id = any ($1) and status = 'returned'";

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

    /** The plays of requests, by id, in order. Requests without settled plays are absent. */
    Future<Map<UUID, List<Play>>> played(Collection<UUID> ids) {
        return pool.preparedQuery(PLAYS).execute(parameters(ids)).compose(rows -> {
            Set<DrawId> draws = new HashSet<>();
            rows.forEach(row -> draws.add(new DrawId(row.getUUID("draw"))));
            return catalog.findAll(draws).map(terms -> {
                Map<UUID, List<Play>> played = new HashMap<>();
                for (Row row : rows) {
                    Draw draw = terms.get(new DrawId(row.getUUID("draw")));
                    if (draw != null) {
                        played.computeIfAbsent(row.getUUID("request"), id -> new ArrayList<>())
                                .add(DrawStore.play(draw, row));
                    }
                }
                return played;
            });
        });
    }

    /**
     * The decisions on attempts. Undecided attempts are absent. A request is played by one attempt at most, so its
     * plays decide any attempt of it.
     */
    Future<Map<AttemptKey, SettledPlayRequest>> decided(Collection<AttemptKey> attempts) {
        Map<UUID, AttemptKey> byAttempt = new HashMap<>();
        attempts.forEach(key -> byAttempt.put(key.attempt(), key));
        List<UUID> ids = attempts.stream().map(AttemptKey::request).toList();
        // Returns before plays: an attempt found in neither was undecided when this began.
        return returned(attempts)
                .compose(returned -> played(ids).map(played -> {
                    Map<AttemptKey, SettledPlayRequest> decided = new HashMap<>();
                    for (Row row : returned) {
                        AttemptKey key = byAttempt.get(row.getUUID("attempt"));
                        if (key != null) {
                            decided.put(
                                    key, settled(key, row.getString("user_id"), List.of(), row.getString("reason")));
                        }
                    }
                    for (AttemptKey key : attempts) {
                        List<Play> plays = played.get(key.request());
                        if (plays != null) {
                            decided.put(key, settled(key, plays.get(0).user().value(), plays, null));
                        }
                    }
                    return decided;
                }));
    }

    /** Attempts with a returned cost. A free request has no cost, and is its own attempt. */
    private Future<List<Row>> returned(Collection<AttemptKey> attempts) {
        List<UUID> paid = attempts.stream()
                .filter(key -> !key.attempt().equals(key.request()))
                .map(AttemptKey::request)
                .toList();
        return paid.isEmpty()
                ? Future.succeededFuture(List.of())
                : pool.preparedQuery(RETURNED).execute(parameters(paid)).map(rows -> {
                    List<Row> all = new ArrayList<>();
                    rows.forEach(all::add);
                    return all;
                });
    }

    private static Tuple parameters(Collection<UUID> ids) {
        return Tuple.tuple().addArrayOfUUID(ids.toArray(UUID[]::new));
    }

    private static SettledPlayRequest settled(AttemptKey key, String user, List<Play> plays, @Nullable String reason) {
        return new SettledPlayRequest(key.request(), key.attempt(), key.draw(), new UserId(user), plays, reason);
    }

    /** Whether its cost is held and the request is undecided. */
    Future<Boolean> isHeld(UUID id) {
        return pool.preparedQuery(HELD).execute(Tuple.of(id)).map(rows -> rows.rowCount() > 0);
    }
}
