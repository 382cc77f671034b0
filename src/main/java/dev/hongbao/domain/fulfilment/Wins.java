package dev.hongbao.domain.fulfilment;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.DrawService;
import dev.hongbao.domain.draw.Play;
import dev.hongbao.domain.odds.Prize;
import dev.hongbao.engine.postgres.Pages;
import io.vertx.core.Future;
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
public final class Wins {
    /** The most changes of one win. The list is for deliveries, not for conversations. */
    public static final int MAX_CHANGES = 100;

    /** Wins of an export in one query. */
    private static final int EXPORT_PAGE = 1_000;

    /** Tries of a change that meets concurrent changes of the same win. */
    private static final int TRIES = 5;

    private static final Pattern CURSOR = Pattern.compile("([0-9]{1,3})\\.([0-9]{1,18})");

    private final DrawService draws;
    private final WinStore store;

    /** @param draws of one event loop; the new instance belongs to that loop, too */
    public Wins(DrawService draws, WinStore store) {
        this.draws = draws;
        this.store = store;
    }

    /**
     * A filter of wins.
     *
     * @param category null for all
     * @param state null for all
     */
    public record Filter(
            @Nullable String category, @Nullable FulfilmentState state) {}

    /**
     * Wins sorted by prize, then by the order of winning.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     * @return refused with NOT_ELIGIBLE or NOT_FOUND; fails as {@link Page#badCursor}
     */
    public Future<Page<Win>> list(Caller caller, DrawId id, Filter filter, @Nullable String cursor, int limit) {
        WinStore.Place after = WinStore.Place.BEFORE_ALL;
        if (cursor != null) {
            Matcher place = CURSOR.matcher(cursor);
            if (!place.matches()) {
                return Future.failedFuture(Page.badCursor());
            }
            after = new WinStore.Place(Integer.parseInt(place.group(1)), Long.parseLong(place.group(2)));
        }
        WinStore.Place from = after;
        return draws.owned(caller, id)
                .compose(draw -> read(draw, filter, from, limit + 1))
                .map(wins -> Page.of(wins, limit, win -> win.play().drawn().number() + "." + win.nth()));
    }

    /**
     * Reads all wins page by page.
     *
     * @param write takes a page; the next page is read when its future succeeds
     */
    public Future<Void> export(Caller caller, DrawId id, Filter filter, Function<List<Win>, Future<Void>> write) {
        return draws.owned(caller, id)
                .compose(draw -> Pages.each(
                        WinStore.Place.BEFORE_ALL,
                        after -> read(draw, filter, after, EXPORT_PAGE),
                        page -> page.isEmpty() ? null : place(page.get(page.size() - 1)),
                        write));
    }

    private static WinStore.Place place(Win win) {
        return new WinStore.Place(win.play().drawn().number(), win.nth());
    }

    private Future<List<Win>> read(Draw draw, Filter filter, WinStore.Place after, int limit) {
        List<Prize> prizes = draw.definition().allPrizes();
        List<Integer> numbers = IntStream.rangeClosed(1, prizes.size())
                .filter(number -> fits(prizes.get(number - 1), filter))
                .boxed()
                .toList();
        return numbers.isEmpty()
                ? Future.succeededFuture(List.of())
                : store.wins(draw, numbers, filter.state(), after, limit);
    }

    /** Skips paid prizes unless DONE is asked for. They are always done, and may be millions. */
    private static boolean fits(Prize prize, Filter filter) {
        return prize.isWin()
                && (filter.category() == null || filter.category().equals(prize.category()))
                && (filter.state() == null || filter.state() == FulfilmentState.DONE || !prize.isPaid());
    }

    /** A win and its history; refused with NOT_FOUND for a play that won nothing. */
    public Future<Win.Told> find(Caller caller, DrawId id, long seq) {
        return draws.owned(caller, id).compose(draw -> find(draw, seq));
    }

    private Future<Win.Told> find(Draw draw, long seq) {
        return store.find(draw, seq).compose(found -> {
            if (found == null || !found.play().drawn().prize().isWin()) {
                return refused(Refusal.NOT_FOUND, Text.of("win.not-found"));
            }
            Win win = Objects.requireNonNull(found);
            return store.history(draw.id(), seq)
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
            if (told.win().play().drawn().prize().isPaid()) {
                return refused(Refusal.INFEASIBLE, Reason.PAID, Text.of("win.paid"));
            }
            if (last != null && last.state() == state && Objects.equals(last.note(), note)) {
                return Future.succeededFuture(told);
            }
            int n = told.history().size() + 1;
            if (n > MAX_CHANGES) {
                return refused(Refusal.INFEASIBLE, Reason.FULL, Text.of("win.too-many-changes", MAX_CHANGES));
            }
            return store.append(draw.id(), seq, n, state, note, actor).compose(appended -> {
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
                .filter(play -> play.drawn().prize().isWin())
                .collect(Collectors.toMap(
                        Play::seq, play -> FulfilmentState.first(play.drawn().prize())));
        return states.isEmpty()
                ? Future.succeededFuture(states)
                : store.states(draw, states.keySet()).map(changed -> {
                    states.putAll(changed);
                    return states;
                });
    }

    private static <T> Future<T> refused(Refusal refusal, Reason reason, Text detail) {
        return Future.failedFuture(new RefusedException(refusal, reason, detail));
    }

    private static <T> Future<T> refused(Refusal refusal, Text detail) {
        return Future.failedFuture(new RefusedException(refusal, detail));
    }
}
