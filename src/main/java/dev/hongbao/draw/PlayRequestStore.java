package dev.hongbao.draw;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.draw.Play.SettledPlays;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.store.postgres.GatheredCommands;
import dev.hongbao.store.postgres.GatheredLookups;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Requests in Postgres: holds of their cost, in one statement for many requests of a server, and their results. Thread-safe. */
final class PlayRequestStore {
    /** The reason is null while the cost is held. */
    private static final String LATEST = "select id, user_id, attempt, reason from play_request where id = any ($1)";

    private static final String HELD = "select from play_request where id = $1 and status = 'held'";

    private static final String PLAYS =
            "select y.draw, y.seq, y.user_id, y.prize, y.at, y.request, c.code from play as y"
                    + " left join code as c on c.draw = y.draw and c.prize = y.prize and c.nth = y.nth"
                    + " where y.request = any ($1) order by y.draw, y.seq";

    private static final String HOLD = "select status, attempt from hold_plays($1, $2, $3, $4, $5, $6, $7, $8)";

    /** Looks up row by row. A plan made for the empty table would otherwise read all of it for each batch. */
    static final String PLAYED_BEFORE = """
            select g.n, p.plays
            from unnest($1::uuid[], $2::uuid[]) with ordinality as g(id, draw, n)
            cross join lateral (select count(*)::integer as plays from play where request = g.id and draw = g.draw) as p
            where p.plays > 0
            """;

    private final Pool pool;
    private final DrawCatalog catalog;
    private final GatheredCommands<Paid, Hold> holds;
    private final GatheredLookups<PlayRequest, Integer> playedBefore;

    /**
     * A request of a paid draw.
     *
     * @param limits of the draw
     * @param day of the play, in the draw's zone, as days since 1970-01-01
     */
    private record Paid(PlayRequest request, DrawDefinition.Limits limits, long day) {}

    /** The result of {@code hold_plays} for a request. */
    enum Status {
        HELD,
        SETTLED,
        REUSED,
        POOR,
        REFUSED,
        FROZEN,
        BLOCKED,
        /** The draw does not exist, as after a restored backup. */
        UNKNOWN
    }

    /**
     * The answer.
     *
     * @param attempt for the script, when HELD
     * @param refusal when REFUSED, else null
     */
    record Hold(Status status, UUID attempt, PlayOutcome.@Nullable Kind refusal) {}

    /** The reason of an attempt that is over: the request has a later one. */
    static final String OVERTAKEN = "overtaken";

    /** An attempt of a request. */
    record AttemptKey(UUID request, UUID attempt, DrawId draw) {
        static AttemptKey of(SettledPlays.Request settled) {
            return new AttemptKey(settled.request(), settled.attempt(), settled.draw());
        }
    }

    /** @param maxWaiting requests that may wait for the statement that holds their cost */
    public PlayRequestStore(Pool pool, DrawCatalog catalog, int maxWaiting, PlayMetrics metrics) {
        this.pool = pool;
        this.catalog = catalog;
        // One request of a user in a statement, so that a wallet's balance is checked for each request.
        this.holds =
                new GatheredCommands<>(Text.of("noun.plays"), maxWaiting, paid -> paid.request.user(), requests -> {
                    metrics.holds.record(requests.size());
                    return Transactions.statement(() -> hold(requests));
                });
        this.playedBefore = new GatheredLookups<>(this::playedBefore);
    }

    /**
     * Holds the cost of a request, or returns the refusal of the settled state. For a free draw, it only looks for earlier plays of the
     * request: a free request has one attempt, itself. The script decides it once in a generation, and earlier generations' decisions are
     * settled, so this finds them.
     *
     * @param now gives the day of the limits
     * @return fails as {@link GatheredCommands#submit}. After a failure the cost may be held, unless too many requests were waiting
     */
    Future<Hold> hold(Draw draw, PlayRequest request, Instant now) {
        DrawDefinition definition = draw.definition();
        return definition.cost() != null
                ? holds.submit(new Paid(request, definition.limits(), definition.dayOf(now)))
                : playedBefore.find(request).map(plays -> new Hold(status(request, plays), request.id(), null));
    }

    private static Status status(PlayRequest request, @Nullable Integer plays) {
        if (plays == null) {
            return Status.HELD;
        }
        return plays == request.plays() ? Status.SETTLED : Status.REUSED;
    }

    private Future<Map<PlayRequest, Integer>> playedBefore(List<PlayRequest> requests) {
        return pool.preparedQuery(PLAYED_BEFORE)
                .execute(Tuple.tuple()
                        .addArrayOfUUID(Rows.column(requests, UUID[]::new, PlayRequest::id))
                        .addArrayOfUUID(Rows.column(
                                requests, UUID[]::new, request -> request.draw().value())))
                .map(rows -> {
                    Map<PlayRequest, Integer> played = new HashMap<>();
                    rows.forEach(row -> played.put(requests.get(row.getInteger("n") - 1), row.getInteger("plays")));
                    return played;
                });
    }

    private Future<List<Hold>> hold(List<Paid> requests) {
        return pool.preparedQuery(HOLD)
                .execute(Tuple.tuple()
                        .addArrayOfUUID(Rows.column(requests, UUID[]::new, paid -> paid.request.id()))
                        .addArrayOfUUID(Rows.column(
                                requests,
                                UUID[]::new,
                                paid -> paid.request.draw().value()))
                        .addArrayOfString(
                                Rows.texts(requests, paid -> paid.request.user().value()))
                        .addArrayOfShort(Rows.column(requests, Short[]::new, paid -> (short) paid.request.plays()))
                        .addArrayOfUUID(Rows.column(requests, UUID[]::new, paid -> UUID.randomUUID()))
                        .addArrayOfLong(Rows.column(requests, Long[]::new, paid -> paid.limits.total()))
                        .addArrayOfLong(Rows.column(requests, Long[]::new, paid -> paid.limits.perDay()))
                        .addArrayOfLong(Rows.column(requests, Long[]::new, Paid::day)))
                .map(PlayRequestStore::answers);
    }

    private static List<Hold> answers(RowSet<Row> rows) {
        List<Hold> answers = new ArrayList<>();
        for (Row row : rows) {
            String word = row.getString("status");
            PlayOutcome.Kind refusal = PlayOutcome.Kind.ofWord(word);
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
    Future<Map<AttemptKey, SettledPlays.Request>> decided(Collection<AttemptKey> attempts) {
        List<UUID> ids = attempts.stream().map(AttemptKey::request).toList();
        // Returns before plays: an attempt found in neither was undecided when this began.
        return latest(attempts)
                .compose(latest -> played(ids).map(played -> {
                    Map<AttemptKey, SettledPlays.Request> decided = new HashMap<>();
                    for (AttemptKey key : attempts) {
                        List<Play> plays = played.get(key.request());
                        Row row = latest.get(key.request());
                        if (plays != null) {
                            decided.put(key, settled(key, plays.get(0).user().value(), plays, null));
                        } else if (row != null && reason(row, key) != null) {
                            decided.put(key, settled(key, row.getString("user_id"), List.of(), reason(row, key)));
                        }
                    }
                    return decided;
                }));
    }

    /** Why an attempt is over without a play; null if it is undecided. */
    private static @Nullable String reason(Row latest, AttemptKey key) {
        return latest.getUUID("attempt").equals(key.attempt()) ? latest.getString("reason") : OVERTAKEN;
    }

    /** The latest attempts, by request. A free request has no cost, and is its own attempt. */
    private Future<Map<UUID, Row>> latest(Collection<AttemptKey> attempts) {
        List<UUID> paid = attempts.stream()
                .filter(key -> !key.attempt().equals(key.request()))
                .map(AttemptKey::request)
                .toList();
        return paid.isEmpty()
                ? Future.succeededFuture(Map.of())
                : pool.preparedQuery(LATEST)
                        .execute(parameters(paid))
                        .map(rows -> rows.stream().collect(Collectors.toMap(row -> row.getUUID("id"), row -> row)));
    }

    private static Tuple parameters(Collection<UUID> ids) {
        return Tuple.tuple().addArrayOfUUID(ids.toArray(UUID[]::new));
    }

    private static SettledPlays.Request settled(
            AttemptKey key, String user, List<Play> plays, @Nullable String reason) {
        return new SettledPlays.Request(key.request(), key.attempt(), key.draw(), new UserId(user), plays, reason);
    }

    /** Whether its cost is held and the request is undecided. */
    Future<Boolean> isHeld(UUID id) {
        return pool.preparedQuery(HELD).execute(Tuple.of(id)).map(rows -> rows.rowCount() > 0);
    }
}
