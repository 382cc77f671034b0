package dev.hongbao.domain.play;

import dev.hongbao.common.json.Text;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.domain.play.HoldBatcher.Hold;
import dev.hongbao.domain.play.HoldBatcher.Status;
import dev.hongbao.engine.postgres.GatheredCommands;
import dev.hongbao.engine.postgres.GatheredLookups;
import dev.hongbao.engine.postgres.Transactions;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The reads and holds in Postgres before a play, in one statement for many plays of a server. Thread-safe. */
public final class GatheredHolds {
    private static final String HOLD = "select status, attempt from hold_plays($1, $2, $3, $4, $5, $6, $7, $8)";

    /** Looks up row by row. A plan made for the empty table would otherwise read all of it for each batch. */
    private static final String PLAYED = """
            select g.id, p.plays
            from unnest($1::uuid[]) as g(id)
            cross join lateral (select count(*)::integer as plays from play where request = g.id) as p
            where p.plays > 0
            """;

    private final GatheredCommands<Paid, Hold> holds;
    private final GatheredLookups<UUID, Integer> played;

    /**
     * A request of a paid draw.
     *
     * @param limits of the draw
     * @param day of the play, in the draw's zone, as days since 1970-01-01
     */
    private record Paid(PlayRequest request, DrawDefinition.Limits limits, long day) {}

    /** @param maxWaiting requests that may wait for the statement that holds their cost */
    public GatheredHolds(Pool pool, int maxWaiting, PlayMetrics metrics) {
        // One request of a user in a statement, so that a wallet's balance is checked for each request.
        this.holds =
                new GatheredCommands<>(Text.of("noun.plays"), maxWaiting, paid -> paid.request.user(), requests -> {
                    metrics.holds(requests.size());
                    return Transactions.statement(() -> hold(pool, requests));
                });
        this.played = new GatheredLookups<>(requests -> played(pool, requests));
    }

    /**
     * Holds the cost of a request, or returns the refusal of the settled state. Fails as {@link GatheredCommands#submit}. After a failure
     * the cost may be held, unless too many requests were waiting.
     *
     * @param now gives the day of the limits
     */
    Future<Hold> hold(DrawDefinition definition, PlayRequest request, Instant now) {
        return holds.submit(new Paid(request, definition.limits(), definition.dayOf(now)));
    }

    /** The number of a request's settled plays; null for none. */
    Future<@Nullable Integer> played(UUID request) {
        return played.find(request);
    }

    private static Future<Map<UUID, Integer>> played(Pool pool, List<UUID> requests) {
        return pool.preparedQuery(PLAYED)
                .execute(Tuple.tuple().addArrayOfUUID(requests.toArray(UUID[]::new)))
                .map(rows -> {
                    Map<UUID, Integer> played = new HashMap<>();
                    rows.forEach(row -> played.put(row.getUUID("id"), row.getInteger("plays")));
                    return played;
                });
    }

    private static Future<List<Hold>> hold(Pool pool, List<Paid> requests) {
        int size = requests.size();
        UUID[] ids = new UUID[size];
        UUID[] draws = new UUID[size];
        String[] users = new String[size];
        Short[] plays = new Short[size];
        UUID[] attempts = new UUID[size];
        Long[] totals = new Long[size];
        Long[] perDays = new Long[size];
        Long[] days = new Long[size];
        for (int i = 0; i < size; i++) {
            Paid paid = requests.get(i);
            PlayRequest request = paid.request;
            ids[i] = request.id();
            draws[i] = request.draw().value();
            users[i] = request.user().value();
            plays[i] = (short) request.plays();
            attempts[i] = UUID.randomUUID();
            totals[i] = paid.limits.total();
            perDays[i] = paid.limits.perDay();
            days[i] = paid.day;
        }
        return pool.preparedQuery(HOLD)
                .execute(Tuple.tuple()
                        .addArrayOfUUID(ids)
                        .addArrayOfUUID(draws)
                        .addArrayOfString(users)
                        .addArrayOfShort(plays)
                        .addArrayOfUUID(attempts)
                        .addArrayOfLong(totals)
                        .addArrayOfLong(perDays)
                        .addArrayOfLong(days))
                .map(GatheredHolds::answers);
    }

    private static List<Hold> answers(RowSet<Row> rows) {
        List<Hold> answers = new ArrayList<>();
        for (Row row : rows) {
            String word = row.getString("status");
            PlayRefusal refusal = PlayRefusal.of(word);
            Status status = switch (word) {
                case "held" -> Status.HELD;
                case "settled" -> Status.SETTLED;
                case "reused" -> Status.REUSED;
                case "poor" -> Status.POOR;
                case "frozen" -> Status.FROZEN;
                case "blocked" -> Status.BLOCKED;
                default -> refusal == null ? Status.UNKNOWN : Status.REFUSED;
            };
            answers.add(new Hold(status, row.getUUID("attempt"), refusal));
        }
        return answers;
    }
}
