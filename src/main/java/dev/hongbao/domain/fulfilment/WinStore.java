package dev.hongbao.domain.fulfilment;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.DrawStore;
import dev.hongbao.domain.odds.Prize;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Wins and their changes in Postgres. Thread-safe. */
public final class WinStore {
    private static final String LAST = " left join lateral (select x.n, x.state, x.note, x.actor, x.at as changed_at"
            + " from fulfilment as x where x.draw = y.draw and x.seq = y.seq order by x.n desc limit 1) as f on true ";

    /** Reads each prize's index on (draw, prize, nth), so a page's cost does not depend on the number of plays. */
    private static final String WINS = "select w.* from unnest($2::smallint[], $3::bigint[], $4::text[])"
            + " as z(prize, after, first) cross join lateral (" + DrawStore.playOf("y.nth, f.*", LAST)
            + "where y.draw = $1 and y.prize = z.prize and y.nth > z.after"
            + " and ($5::text is null or coalesce(f.state, z.first) = $5) order by y.nth limit $6) as w"
            + " order by w.prize, w.nth limit $6";

    private static final String WIN = DrawStore.playOf("y.nth, f.*", LAST) + "where y.draw = $1 and y.seq = $2";

    private static final String HISTORY =
            "select n, state, note, actor, at as changed_at from fulfilment where draw = $1 and seq = $2 order by n";

    private static final String STATES = "select distinct on (seq) seq, state from fulfilment"
            + " where draw = $1 and seq = any ($2) order by seq, n desc";

    private static final String APPEND = "insert into fulfilment (draw, seq, n, state, note, actor) values ($1, $2,"
            + " $3, $4, $5, $6) on conflict do nothing returning n, state, note, actor, at as changed_at";

    private final Pool pool;

    /** @param pool of the requests */
    public WinStore(Pool pool) {
        this.pool = pool;
    }

    /** A place in a draw's wins, which are sorted by prize, then by the order of winning. */
    record Place(int prize, long nth) {
        static final Place BEFORE_ALL = new Place(0, 0);
    }

    /**
     * Wins after a place.
     *
     * @param prizes their numbers, from 1
     * @param state null for all
     */
    Future<List<Win>> wins(
            Draw draw, Collection<Integer> prizes, @Nullable FulfilmentState state, Place after, int limit) {
        List<Integer> left =
                prizes.stream().filter(prize -> prize >= after.prize).sorted().toList();
        return pool.preparedQuery(WINS)
                .execute(Tuple.tuple()
                        .addUUID(draw.id().value())
                        .addArrayOfShort(left.stream().map(Integer::shortValue).toArray(Short[]::new))
                        .addArrayOfLong(left.stream()
                                .map(prize -> prize == after.prize ? after.nth : 0)
                                .toArray(Long[]::new))
                        .addArrayOfString(left.stream()
                                .map(prize -> first(draw.prize(prize)))
                                .toArray(String[]::new))
                        .addString(state == null ? null : state.wireName())
                        .addInteger(limit))
                .map(rows -> stream(rows).map(row -> win(draw, row)).toList());
    }

    private static String first(Prize prize) {
        return FulfilmentState.first(prize).wireName();
    }

    /** The play with a sequence number, whatever its prize; null for none. */
    Future<@Nullable Win> find(Draw draw, long seq) {
        return pool.preparedQuery(WIN)
                .execute(Tuple.of(draw.id().value(), seq))
                .map(rows -> stream(rows).map(row -> win(draw, row)).findFirst().orElse(null));
    }

    /** The changes of a play, earliest first. */
    Future<List<Win.Change>> history(DrawId draw, long seq) {
        return pool.preparedQuery(HISTORY)
                .execute(Tuple.of(draw.value(), seq))
                .map(rows -> stream(rows).map(WinStore::change).toList());
    }

    /** The states of changed plays, by sequence number. Plays without a change are absent. */
    Future<Map<Long, FulfilmentState>> states(DrawId draw, Collection<Long> seqs) {
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
    Future<Win.@Nullable Change> append(
            DrawId draw, long seq, int n, FulfilmentState state, @Nullable String note, UserId actor) {
        return pool.preparedQuery(APPEND)
                .execute(Tuple.of(draw.value(), seq, (short) n, state.wireName(), note, actor.value()))
                .map(rows -> stream(rows).map(WinStore::change).findFirst().orElse(null));
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
                row.getOffsetDateTime("changed_at").toInstant());
    }

    private static Stream<Row> stream(RowSet<Row> rows) {
        return StreamSupport.stream(rows.spliterator(), false);
    }
}
