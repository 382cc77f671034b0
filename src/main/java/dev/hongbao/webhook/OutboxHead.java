package dev.hongbao.webhook;

import dev.hongbao.store.postgres.SharedQueries;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The end of the outbox. All waiting readers of this server share one query. Thread-safe.
 *
 * <p>Rows of one shard commit in the order of their places. Other rows commit in any order, so an earlier one may follow a visible one. A
 * row gets its place in a transaction that already has an id. So each query notes the newest visible place, and then draws a transaction
 * id. Once all transactions with earlier ids have ended, the rows up to the noted place are complete.
 *
 * <p>Another database, or another start of Postgres, may have come out of a backup: its first answer ends all notes.
 */
final class OutboxHead {
    /** The least time between two queries. */
    private static final long GAP_NANOS = TimeUnit.MILLISECONDS.toNanos(40);

    /** Notes kept while a transaction does not end; further ones are dropped. */
    private static final int MAX_NOTES = 1_000;

    private static final String LOOK = """
            select s.era, s.floor, h.newest, postgres_start() as start,
                   pg_snapshot_xmin(pg_current_snapshot())::text as ended_before,
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
    private final SharedQueries<String, Head> looks = new SharedQueries<>();
    private @Nullable Head last;
    private long lastNanos;
    private String start = "";

    /** Rows up to {@code place} are complete once all transactions before {@code drawn} have ended. */
    private record Note(long place, long drawn) {}

    /**
     * A query's result.
     *
     * @param floor rows up to here may have been removed
     * @param newest the place of the newest visible row
     * @param whole the place up to which rows are complete
     */
    record Head(UUID era, long floor, long newest, long whole) {}

    public OutboxHead(Pool pool, int shards) {
        this.pool = pool;
        this.shards = shards;
    }

    /** Inserts the outbox's own row. Idempotent. */
    public Future<Void> establish() {
        return pool.query("insert into outbox_state (one) values (true) on conflict do nothing")
                .execute()
                .mapEmpty();
    }

    /** One more than the number of shards. */
    int streams() {
        return shards + 1;
    }

    /** A result that is at most some 40 ms old. Completes on the caller's event loop, also if another loop asked first. */
    Future<Head> look() {
        Head recent = recent();
        // One at a time: an older answer that arrives later would look like a Postgres that stepped back.
        return recent == null ? looks.ask("head", this::lookNow) : Future.succeededFuture(recent);
    }

    private synchronized @Nullable Head recent() {
        return System.nanoTime() - lastNanos < GAP_NANOS ? last : null;
    }

    private synchronized Future<Head> lookNow() {
        long noted = notes.isEmpty() ? last == null ? -1 : last.whole : notes.getLast().place;
        return pool.preparedQuery(LOOK)
                .execute(Tuple.of(shards - 1, noted))
                .map(rows -> looked(rows.iterator().next()));
    }

    private synchronized Head looked(Row row) {
        UUID era = row.getUUID("era");
        long newest = row.getLong("newest");
        long ended = Long.parseLong(row.getString("ended_before"));
        long whole = last == null ? 0 : last.whole;
        if (newest < whole || last != null && !last.era.equals(era) || !start.equals(row.getString("start"))) {
            notes.clear(); // Postgres stepped back, or may have while it was away
            whole = 0;
        }
        start = row.getString("start");
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
