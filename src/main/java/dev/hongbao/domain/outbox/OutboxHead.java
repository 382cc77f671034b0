package dev.hongbao.domain.outbox;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How far the outbox goes. All that wait for events on this server share one look into Postgres. Thread-safe.
 *
 * <p>Rows of one shard commit in the order of their places; the others commit in any order, so of a row that is seen nobody knows
 * whether an earlier one is still to come. A row's place is given out in a transaction that has an id already. So a look notes the
 * newest place it sees, and an id that it draws after that: once all transactions with earlier ids have ended, nothing comes any more
 * up to the noted place.
 */
public final class OutboxHead {
    /** Two looks are at least so far apart. */
    private static final long GAP_NANOS = TimeUnit.MILLISECONDS.toNanos(40);

    /** Notes that wait for a transaction that does not end; then only the oldest ones are kept. */
    private static final int MAX_NOTES = 1_000;

    private static final String LOOK = """
            select s.era, s.floor, h.newest, pg_snapshot_xmin(pg_current_snapshot())::text as ended_before,
                   case when h.newest > $2 then pg_current_xact_id()::text end as drawn
            from outbox_state as s
            cross join lateral (
                select coalesce(max(l.n), s.floor) as newest
                from generate_series(-1, $1::integer) as g(shard)
                cross join lateral (select o.n from outbox as o where o.shard = g.shard order by o.n desc limit 1) as l) as h
            """;

    private final Pool pool;
    private final int shards;
    private final Deque<Note> notes = new ArrayDeque<>();
    private @Nullable Future<Head> looking;
    private @Nullable Head last;
    private long lastNanos;
    private long endedBefore;

    /** Up to {@code place} nothing comes once all transactions before {@code drawn} have ended. */
    private record Note(long place, long drawn) {}

    /**
     * A look.
     *
     * @param floor rows up to here may have been removed
     * @param newest the place of the newest row that was seen
     * @param whole up to this place no row is still to come
     */
    record Head(UUID era, long floor, long newest, long whole) {}

    public OutboxHead(Pool pool, int shards) {
        this.pool = pool;
        this.shards = shards;
    }

    /** The outbox' own row, at the first start; a no-op later. */
    public Future<Void> establish() {
        return pool.query("insert into outbox_state (one) values (true) on conflict do nothing")
                .execute()
                .mapEmpty();
    }

    /** One more than there are shards. */
    int streams() {
        return shards + 1;
    }

    /** A look that is at most some 40 ms old. Completes on the event loop that asks, whoever asked first. */
    Future<Head> look() {
        Future<Head> shared = shared();
        Context context = Vertx.currentContext();
        if (context == null || shared.isComplete()) {
            return shared;
        }
        Promise<Head> here = Promise.promise();
        shared.onComplete(looked -> context.runOnContext(now -> here.handle(looked)));
        return here.future();
    }

    private synchronized Future<Head> shared() {
        Future<Head> underWay = looking;
        if (underWay != null && !underWay.isComplete()) {
            return underWay;
        }
        Head known = last;
        return known != null && System.nanoTime() - lastNanos < GAP_NANOS ? Future.succeededFuture(known) : lookNow();
    }

    /** One at a time: an older answer that came later would look as if Postgres had gone back. */
    private Future<Head> lookNow() {
        long noted = notes.isEmpty() ? last == null ? -1 : last.whole : notes.getLast().place;
        Future<Head> look = pool.preparedQuery(LOOK)
                .execute(Tuple.of(shards - 1, noted))
                .map(rows -> looked(rows.iterator().next()));
        looking = look;
        return look;
    }

    private synchronized Head looked(Row row) {
        UUID era = row.getUUID("era");
        long newest = row.getLong("newest");
        long ended = Long.parseLong(row.getString("ended_before"));
        long whole = last == null ? 0 : last.whole;
        if (ended < endedBefore || newest < whole || last != null && !last.era.equals(era)) {
            notes.clear(); // Postgres went back in time
            whole = 0;
        }
        endedBefore = ended;
        String drawn = row.getString("drawn");
        if (drawn != null && notes.size() < MAX_NOTES) {
            notes.add(new Note(newest, Long.parseLong(drawn)));
        }
        for (Note first = notes.peek(); first != null && first.drawn <= ended; first = notes.peek()) {
            whole = Math.max(whole, first.place);
            notes.remove();
        }
        Head head = new Head(era, row.getLong("floor"), newest, Math.max(whole, row.getLong("floor")));
        last = head;
        lastNanos = System.nanoTime();
        return head;
    }
}
