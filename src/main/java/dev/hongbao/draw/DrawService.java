package dev.hongbao.draw;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.engine.Shards;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Page;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.time.Clock;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Makes, reads and ends draws. One instance per event loop; call it on that loop. */
public final class DrawService {
    /** Plays of an export in one query. */
    private static final int EXPORT_PAGE = 1_000;

    private static final String PERIOD_NOW = """
        select now(), closed_at is null and closes_at > now() as open,
               exists (select from period where draw = $1 and n = $2) as planned
        from draw where id = $1
        """;

    private static final String CHANGED = "select prize, quota from quota where draw = $1 and period = $2";

    private static final String SET_QUOTA = """
        insert into quota as q (draw, prize, period, quota) values ($1, $2, $3, $4)
        on conflict (draw, prize, period) do update set quota = excluded.quota
        """;

    private final Pool pool;
    private final DrawStore store;
    private final DrawCatalog catalog;
    private final DrawCreator creation;
    private final Quarantine quarantine;
    private final Clock clock;

    /** @param clock Postgres' clock as this server knows it; it decides which draws are open */
    public DrawService(
            Pool pool,
            Shards shards,
            Quarantine quarantine,
            DrawStore store,
            DrawCatalog catalog,
            KeyLoader loading,
            Clock clock) {
        this.pool = pool;
        this.store = store;
        this.quarantine = quarantine;
        this.catalog = catalog;
        this.clock = clock;
        this.creation = new DrawCreator(pool, shards, catalog, loading, clock);
    }

    /**
     * Makes a draw, and moves its awards from the caller's wallets into escrow. Idempotent by (caller, key).
     *
     * @return fails with {@link RefusedException} (NOT_ELIGIBLE, INSUFFICIENT_FUNDS, IDEMPOTENCY_KEY_REUSED) or {@link InvalidInputException}
     */
    public Future<Draw> create(Caller caller, DrawDefinition definition, IdempotencyKey key) {
        return creation.create(caller, definition, key);
    }

    /** The owner's newest draw that is not closed; null when there is none. */
    public Future<@Nullable Draw> newestOpen(UserId owner) {
        return store.newestOpen(owner);
    }

    /** The caller's view of a draw; refused with NOT_FOUND or NOT_ELIGIBLE. */
    public Future<DrawView> view(Caller caller, DrawId id) {
        return visible(caller, id).compose(draw -> {
            Future<DrawStore.@Nullable End> ends = store.end(id);
            Future<List<DrawStore.Progress>> prizes = progress(caller, draw);
            Future<Long @Nullable []> counters = store.counters(id, caller.user());
            Future<Long> plays = counters.compose(
                    counted -> counted == null ? store.playsOf(id, caller.user()) : Future.succeededFuture(counted[0]));
            return Future.all(ends, prizes, plays, counters).compose(all -> {
                // The cached draw may have an outdated end.
                DrawStore.End end = Objects.requireNonNull(ends.result());
                Draw current = draw.endingAt(end.closesAt());
                boolean closed = end.closedAt() != null;
                Future<DrawView.@Nullable Books> books = closed && caller.role() == Role.SERVICE
                        ? store.books(draw).map(read -> read)
                        : Future.succeededFuture(null);
                return books.map(
                        read -> view(current, prizes.result(), plays.result(), counters.result(), closed, read));
            });
        });
    }

    private Future<List<DrawStore.Progress>> progress(Caller caller, Draw draw) {
        boolean shown = draw.definition().showLeft() || caller.role() == Role.SERVICE;
        return shown ? store.progress(draw.id()) : Future.succeededFuture(List.of());
    }

    private DrawView view(
            Draw draw,
            List<DrawStore.Progress> prizes,
            long plays,
            Long @Nullable [] counters,
            boolean closed,
            DrawView.@Nullable Books books) {
        Instant now = clock.instant();
        DrawDefinition definition = draw.definition();
        DrawDefinition.Limits limits = definition.limits();
        long today = counters == null || counters[1] < definition.dayOf(now) ? 0 : counters[2];
        DrawView.Status status = closed
                ? DrawView.Status.CLOSED
                : !now.isBefore(draw.closesAt())
                        ? DrawView.Status.CLOSING
                        : draw.opensAfter(now) ? DrawView.Status.PLANNED : DrawView.Status.OPEN;
        return new DrawView(
                draw,
                status,
                prizes,
                plays,
                limits.total() == 0 ? null : Math.max(0, limits.total() - plays),
                limits.perDay() == 0 ? null : Math.max(0, limits.perDay() - today),
                // The settled close: no play can follow.
                closed ? draw.seed().hex() : null,
                books);
    }

    /**
     * Plays, latest first: the caller's own, or all for the service role.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<Page<Play>> plays(Caller caller, DrawId id, @Nullable String cursor, int limit) {
        Long before = Page.number(cursor, Long.MAX_VALUE);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        return visible(caller, id)
                .compose(draw ->
                        store.plays(draw, caller.role() == Role.SERVICE ? null : caller.user(), before, limit + 1))
                .map(plays -> Page.of(plays, limit, play -> Long.toString(play.seq())));
    }

    /**
     * Reads a draw's periods and all its plays, earliest first, page by page. Only for the service role.
     *
     * @param write takes a page; the next page is read when its future succeeds
     * @return when all are written; refused with NOT_FOUND or NOT_ELIGIBLE before the first page
     */
    public Future<Void> export(Caller caller, DrawId id, Function<List<Exported>, Future<Void>> write) {
        if (caller.role() != Role.SERVICE) {
            return Refusal.NOT_ELIGIBLE.failure(Reason.ROLE, Text.of("draw.only-backend-exports"));
        }
        return visible(caller, id)
                .compose(draw -> pages(from -> store.periodsFrom(draw, from, EXPORT_PAGE), write)
                        .compose(periods -> pages(from -> store.playsFrom(draw, from, EXPORT_PAGE), write)));
    }

    private static Future<Void> pages(
            Function<Long, Future<List<Exported>>> read, Function<List<Exported>, Future<Void>> write) {
        return Pages.each(0L, read, page -> page.isEmpty() ? null : next(page.get(page.size() - 1)), write);
    }

    private static long next(Exported last) {
        return last instanceof Exported.Played played ? played.play().seq() + 1 : ((Exported.Period) last).number() + 1;
    }

    /** Ends a draw now. Only for the service role. Idempotent; the close follows within a second. */
    public Future<Draw> close(Caller caller, DrawId id) {
        return owned(caller, id)
                .compose(draw -> store.endNow(id).map(ended -> {
                    catalog.forget(id);
                    return draw;
                }));
    }

    /**
     * Changes a prize's quota of a later period, in place of the definition's, unless the period is planned or has begun. Only for the
     * service role. Idempotent.
     *
     * @param prize its number, from 1; no fallback
     * @param period from 0
     * @param quota 0 to {@link DrawDefinition#MAX_RELEASES}
     * @return fails with {@link InvalidInputException} for an unknown prize or period; refused with DRAW_CLOSED; with INFEASIBLE when it
     *     is too late, or when the period would release more than {@link DrawDefinition#MAX_RELEASES} prizes in total
     */
    public Future<Void> changeQuota(Caller caller, DrawId id, int prize, int period, long quota) {
        return owned(caller, id).compose(draw -> {
            DrawDefinition definition = draw.definition();
            if (prize < 1 || prize > definition.prizes().size()) {
                throw InvalidInputException.of("#/prize", Text.of("quota.not-possible"));
            }
            if (period < 0 || period >= definition.periods()) {
                throw InvalidInputException.of("#/period", Text.of("quota.not-possible"));
            }
            Tuple key = Tuple.of(id.value(), period);
            return pool.withTransaction(tx -> DrawStore.lockQuotas(tx, id)
                    .compose(locked -> tx.preparedQuery(PERIOD_NOW).execute(key))
                    .compose(rows -> inTime(
                            definition.periodStart(period), rows.iterator().next()))
                    .compose(inTime -> tx.preparedQuery(CHANGED).execute(key))
                    .compose(changed -> fitting(definition, prize, period, quota, changed))
                    .compose(fits ->
                            tx.preparedQuery(SET_QUOTA).execute(Tuple.of(id.value(), (short) prize, period, quota)))
                    .mapEmpty());
        });
    }

    private static Future<Void> inTime(Instant start, Row now) {
        if (!now.getBoolean("open")) {
            return Refusal.DRAW_CLOSED.failure(Text.of("quota.draw-over"));
        }
        return now.getBoolean("planned") || !start.isAfter(Rows.instant(now, "now"))
                ? Refusal.INFEASIBLE.failure(Reason.OPENING, Text.of("quota.period-planned"))
                : Future.succeededFuture();
    }

    /** Checks the period's total over all prizes. */
    private static Future<Void> fitting(
            DrawDefinition definition, int prize, int period, long quota, RowSet<Row> changed) {
        Map<Integer, Long> quotas = new HashMap<>();
        changed.forEach(row -> quotas.put(row.getInteger("prize"), row.getLong("quota")));
        quotas.put(prize, quota);
        long sum = 0;
        for (int number = 1; number <= definition.prizes().size(); number++) {
            Long other = quotas.get(number);
            sum += other == null ? definition.quota(definition.prizes().get(number - 1), period) : other;
        }
        return sum <= DrawDefinition.MAX_RELEASES
                ? Future.succeededFuture()
                : Refusal.INFEASIBLE.failure(
                        Reason.AMOUNT, Text.of("quota.too-many", DrawDefinition.MAX_RELEASES, sum));
    }

    /** A draw for its host; refused with NOT_FOUND, or with NOT_ELIGIBLE for a plain user. */
    public Future<Draw> owned(Caller caller, DrawId id) {
        return caller.role() == Role.SERVICE
                ? visible(caller, id)
                : Refusal.NOT_ELIGIBLE.failure(Reason.ROLE, Text.of("draw.only-backend-changes"));
    }

    private Future<Draw> visible(Caller caller, DrawId id) {
        return catalog.find(id).compose(found -> {
            if (found == null) {
                return Future.failedFuture(
                        quarantine.refuses(id.value())
                                ? UnavailableException.setAside()
                                : new RefusedException(Refusal.NOT_FOUND, Text.of("draw.not-found")));
            }
            Draw draw = Objects.requireNonNull(found);
            var group = draw.definition().group();
            boolean member = group == null || caller.isMemberOf(group) || caller.role() == Role.SERVICE;
            return member
                    ? Future.succeededFuture(draw)
                    : Refusal.NOT_ELIGIBLE.failure(Reason.GROUP, Text.of("draw.other-group"));
        });
    }

    /** An item of a draw's export: first the periods of its schedule, then its plays, each in order. */
    public sealed interface Exported {
        /**
         * A planned period.
         *
         * @param number from 0
         * @param planned the number of releases of each scheduled prize, by number
         */
        record Period(DrawId draw, int number, List<Integer> planned) implements Exported {
            public Period {
                planned = List.copyOf(planned);
            }
        }

        /**
         * A play with the facts for its replay.
         *
         * @param turn id of its request, whose plays are consecutive; it names the play's random numbers
         * @param loaded the last period on the schedule during the play, -1 for none; null unless the draw has a schedule
         * @param period of the taken release, from 0; null for none
         * @param release its place among the prize's moments in the period, from 1; null for none
         */
        record Played(
                Play play,
                UUID turn,
                @Nullable Integer loaded,
                @Nullable Integer period,
                @Nullable Integer release) implements Exported {}
    }
}
