package dev.hongbao.draw;

import dev.hongbao.draw.odds.Prize;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.values.Caller;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.Page;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Wins of draws, and the host application's changes to them. Only for the service role, except {@link #states}. One instance per event
 * loop.
 */
final class Wins {
    /** The most changes of one win. The list is for deliveries, not for conversations. */
    public static final int MAX_CHANGES = 100;

    /** Wins of an export in one query. */
    private static final int EXPORT_PAGE = 1_000;

    /** Tries of a change that meets concurrent changes of the same win. */
    private static final int TRIES = 5;

    private static final Pattern CURSOR = Pattern.compile("([0-9]{1,3})\\.([0-9]{1,18})");

    /** Reads each prize's index on (draw, prize, nth), so a page's cost does not depend on the number of plays. */
    private static final String WINS = """
        select w.*
        from unnest($2::smallint[], $3::bigint[], $4::text[]) as z(prize, after, first)
        cross join lateral (
            select y.draw, y.seq, y.user_id, y.prize, y.at, c.code, y.nth, f.*
            from play as y left join code as c on c.draw = y.draw and c.prize = y.prize and c.nth = y.nth
            left join lateral (select x.n, x.state, x.note, x.actor, x.at as changed_at
                               from fulfilment as x where x.draw = y.draw and x.seq = y.seq order by x.n desc limit 1) as f on true
            where y.draw = $1 and y.prize = z.prize and y.nth > z.after
              and ($5::text is null or coalesce(f.state, z.first) = $5)
            order by y.nth limit $6) as w
        order by w.prize, w.nth limit $6
        """;

    private static final String WIN = """
        select y.draw, y.seq, y.user_id, y.prize, y.at, c.code, y.nth, f.*
        from play as y left join code as c on c.draw = y.draw and c.prize = y.prize and c.nth = y.nth
        left join lateral (select x.n, x.state, x.note, x.actor, x.at as changed_at
                           from fulfilment as x where x.draw = y.draw and x.seq = y.seq order by x.n desc limit 1) as f on true
        where y.draw = $1 and y.seq = $2
        """;

    private static final String HISTORY =
            "select n, state, note, actor, at as changed_at from fulfilment where draw = $1 and seq = $2 order by n";

    private static final String STATES = """
        select distinct on (seq) seq, state from fulfilment where draw = $1 and seq = any ($2) order by seq, n desc
        """;

    private static final String APPEND = """
        insert into fulfilment (draw, seq, n, state, note, actor) values ($1, $2, $3, $4, $5, $6)
        on conflict do nothing returning n, state, note, actor, at as changed_at
        """;

    private final DrawService draws;
    private final Pool pool;

    /**
     * @param draws of one event loop; the new instance belongs to that loop, too
     * @param pool of the requests
     */
    public Wins(DrawService draws, Pool pool) {
        this.draws = draws;
        this.pool = pool;
    }

    /** A place in a draw's wins, which are sorted by prize, then by the order of winning. */
    private record Place(int prize, long nth) {
        private static final Place BEFORE_ALL = new Place(0, 0);
    }

    /**
     * Wins sorted by prize, then by the order of winning.
     *
     * @param category null for all
     * @param state null for all
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     * @return refused with NOT_ELIGIBLE or NOT_FOUND; fails as {@link Page#badCursor}
     */
    public Future<Page<Win>> list(
            Caller caller,
            DrawId id,
            @Nullable String category,
            @Nullable FulfilmentState state,
            @Nullable String cursor,
            int limit) {
        Place after = Place.BEFORE_ALL;
        if (cursor != null) {
            Matcher place = CURSOR.matcher(cursor);
            if (!place.matches()) {
                return Future.failedFuture(Page.badCursor());
            }
            after = new Place(Integer.parseInt(place.group(1)), Long.parseLong(place.group(2)));
        }
        Place from = after;
        return draws.owned(caller, id)
                .compose(draw -> read(draw, category, state, from, limit + 1))
                .map(wins -> Page.of(wins, limit, win -> win.play().number() + "." + win.nth()));
    }

    /**
     * Reads all wins page by page.
     *
     * @param write takes a page; the next page is read when its future succeeds
     */
    public Future<Void> export(
            Caller caller,
            DrawId id,
            @Nullable String category,
            @Nullable FulfilmentState state,
            Function<List<Win>, Future<Void>> write) {
        return draws.owned(caller, id)
                .compose(draw -> Pages.each(
                        Place.BEFORE_ALL,
                        after -> read(draw, category, state, after, EXPORT_PAGE),
                        page -> page.isEmpty() ? null : place(page.get(page.size() - 1)),
                        write));
    }

    private static Place place(Win win) {
        return new Place(win.play().number(), win.nth());
    }

    private Future<List<Win>> read(
            Draw draw, @Nullable String category, @Nullable FulfilmentState state, Place after, int limit) {
        List<Prize> prizes = draw.definition().allPrizes();
        List<Integer> numbers = IntStream.rangeClosed(1, prizes.size())
                .filter(number -> fits(prizes.get(number - 1), category, state))
                .boxed()
                .toList();
        return numbers.isEmpty() ? Future.succeededFuture(List.of()) : wins(draw, numbers, state, after, limit);
    }

    /** Skips paid prizes unless DONE is asked for. They are always done, and may be millions. */
    private static boolean fits(Prize prize, @Nullable String category, @Nullable FulfilmentState state) {
        return prize.isWin()
                && (category == null || category.equals(prize.category()))
                && (state == null || state == FulfilmentState.DONE || !prize.isPaid());
    }

    /** A win and its history; refused with NOT_FOUND for a play that won nothing. */
    public Future<Win.Told> find(Caller caller, DrawId id, long seq) {
        return draws.owned(caller, id).compose(draw -> find(draw, seq));
    }

    private Future<Win.Told> find(Draw draw, long seq) {
        return stored(draw, seq).compose(found -> {
            if (found == null || !found.play().prize().isWin()) {
                return Refusal.NOT_FOUND.failure(Text.of("win.not-found"));
            }
            Win win = Objects.requireNonNull(found);
            return history(draw.id(), seq)
                    .map(history -> new Win.Told(
                            new Win(win.play(), win.nth(), history.isEmpty() ? null : history.get(history.size() - 1)),
                            history));
        });
    }

    /**
     * Adds the host application's change to a win. Idempotent: the state and note of the last change add nothing.
     *
     * @param note 1 to 500 characters; null for none
     * @return refused with NOT_FOUND, or INFEASIBLE for a prize that the ledger has paid and after {@link #MAX_CHANGES} changes
     */
    public Future<Win.Told> change(Caller caller, DrawId id, long seq, FulfilmentState state, @Nullable String note) {
        return draws.owned(caller, id).compose(draw -> change(draw, seq, state, note, caller.user(), TRIES));
    }

    private Future<Win.Told> change(
            Draw draw, long seq, FulfilmentState state, @Nullable String note, UserId actor, int tries) {
        return find(draw, seq).compose(told -> {
            Win.Change last = told.win().last();
            if (told.win().play().prize().isPaid()) {
                return Refusal.INFEASIBLE.failure(Reason.PAID, Text.of("win.paid"));
            }
            if (last != null && last.state() == state && Objects.equals(last.note(), note)) {
                return Future.succeededFuture(told);
            }
            int n = told.history().size() + 1;
            if (n > MAX_CHANGES) {
                return Refusal.INFEASIBLE.failure(Reason.FULL, Text.of("win.too-many-changes", MAX_CHANGES));
            }
            return append(draw.id(), seq, n, state, note, actor).compose(appended -> {
                if (appended != null) {
                    return find(draw, seq);
                }
                return tries > 1
                        ? change(draw, seq, state, note, actor, tries - 1)
                        : Future.failedFuture(UnavailableException.overloaded(Text.of("win.busy")));
            });
        });
    }

    /** The states of the wins among these plays, by sequence number. Plays that won nothing are absent. */
    public Future<Map<Long, FulfilmentState>> states(DrawId draw, List<Play> plays) {
        Map<Long, FulfilmentState> states = plays.stream()
                .filter(play -> play.prize().isWin())
                .collect(Collectors.toMap(Play::seq, play -> FulfilmentState.first(play.prize())));
        return states.isEmpty()
                ? Future.succeededFuture(states)
                : changed(draw, states.keySet()).map(changed -> {
                    states.putAll(changed);
                    return states;
                });
    }

    /**
     * Wins after a place.
     *
     * @param prizes their numbers, from 1
     * @param state null for all
     */
    private Future<List<Win>> wins(
            Draw draw, Collection<Integer> prizes, @Nullable FulfilmentState state, Place after, int limit) {
        List<Integer> left =
                prizes.stream().filter(prize -> prize >= after.prize).sorted().toList();
        return pool.preparedQuery(WINS)
                .execute(Tuple.tuple()
                        .addUUID(draw.id().value())
                        .addArrayOfShort(Rows.shorts(left))
                        .addArrayOfLong(Rows.column(left, Long[]::new, prize -> prize == after.prize ? after.nth : 0))
                        .addArrayOfString(Rows.texts(left, prize -> first(draw.prize(prize))))
                        .addString(state == null ? null : state.wireName())
                        .addInteger(limit))
                .map(rows -> rows.stream().map(row -> win(draw, row)).toList());
    }

    private static String first(Prize prize) {
        return FulfilmentState.first(prize).wireName();
    }

    /** The play with a sequence number, whatever its prize; null for none. */
    private Future<@Nullable Win> stored(Draw draw, long seq) {
        return pool.preparedQuery(WIN)
                .execute(Tuple.of(draw.id().value(), seq))
                .map(rows ->
                        rows.stream().map(row -> win(draw, row)).findFirst().orElse(null));
    }

    /** The changes of a play, earliest first. */
    private Future<List<Win.Change>> history(DrawId draw, long seq) {
        return pool.preparedQuery(HISTORY)
                .execute(Tuple.of(draw.value(), seq))
                .map(rows -> rows.stream().map(Wins::change).toList());
    }

    /** The states of changed plays, by sequence number. Plays without a change are absent. */
    private Future<Map<Long, FulfilmentState>> changed(DrawId draw, Collection<Long> seqs) {
        return pool.preparedQuery(STATES)
                .execute(Tuple.tuple().addUUID(draw.value()).addArrayOfLong(seqs.toArray(Long[]::new)))
                .map(rows -> {
                    Map<Long, FulfilmentState> states = new HashMap<>();
                    rows.forEach(row -> states.put(row.getLong("seq"), FulfilmentState.of(row.getString("state"))));
                    return states;
                });
    }

    /**
     * Adds a change.
     *
     * @param n its place, from 1 to 100
     * @return null when the place is taken; then nothing changed
     */
    private Future<Win.@Nullable Change> append(
            DrawId draw, long seq, int n, FulfilmentState state, @Nullable String note, UserId actor) {
        return pool.preparedQuery(APPEND)
                .execute(Tuple.of(draw.value(), seq, (short) n, state.wireName(), note, actor.value()))
                .map(rows -> rows.stream().map(Wins::change).findFirst().orElse(null));
    }

    private static Win win(Draw draw, Row row) {
        return new Win(
                DrawStore.play(draw, row), row.getLong("nth"), row.getString("state") == null ? null : change(row));
    }

    private static Win.Change change(Row row) {
        return new Win.Change(
                row.getInteger("n"),
                FulfilmentState.of(row.getString("state")),
                row.getString("note"),
                new UserId(row.getString("actor")),
                Rows.instant(row, "changed_at"));
    }
}
