package dev.hongbao.domain.outbox;

import dev.hongbao.domain.outbox.OutboxHead.Head;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/** The outbox in Postgres. Thread-safe. */
final class OutboxStore {
    /** Rows of a stream in one list. */
    static final int ROWS = 64;

    /**
     * Visible rows without a shard that may still have earlier rows to come. Beyond this number, all rows of shards wait for them, until
     * the oldest transaction ends.
     */
    private static final int MAX_LATE = 1_000;

    /**
     * The next rows of each stream. A packet is sent before it is claimed. So a row of a shard waits while a row without a shard names the
     * same packet or draw and is not complete.
     */
    private static final String LIST = """
            with late as materialized (
                select o.subjects from outbox as o where o.shard = -1 and o.n > $3 order by o.n limit $5 + 1
            ), late_subjects as materialized (
                select distinct s.id from late cross join lateral unnest(late.subjects) as s(id)
            )
            select z.floor, r.shard, r.n, r.id, r.type, r.events,
                   case when r.shard = -1 or not exists (select from late) then false
                        when (select count(*) from late) > $5 then true
                        else exists (select from unnest(r.subjects) as s(id) where s.id in (select id from late_subjects))
                   end as waits
            from outbox_state as z
            left join (
                unnest($1::smallint[], $2::bigint[]) as c(shard, after)
                cross join lateral (
                    select o.* from outbox as o
                    where o.shard = c.shard and o.n > c.after and (o.shard >= 0 or o.n <= $3) order by o.n limit $4) as r
            ) on true
            order by r.n
            """;

    private final Pool pool;

    OutboxStore(Pool pool) {
        this.pool = pool;
    }

    /**
     * A row.
     *
     * @param stream as in {@link OutboxCursor}
     * @param place in its stream, and in the order of creation
     * @param events their number
     * @param waits whether it must wait for other rows
     */
    record Listed(int stream, long place, UUID id, String type, int events, boolean waits) {}

    /**
     * The next rows.
     *
     * @param floor rows up to here may have been removed
     * @param rows at most {@link #ROWS} of each stream, in the order of creation
     */
    record Listing(long floor, List<Listed> rows) {}

    /** The next rows after a cursor. */
    Future<Listing> list(OutboxCursor after, Head head) {
        Short[] shards = new Short[after.streams()];
        Long[] places = new Long[after.streams()];
        for (int stream = 0; stream < shards.length; stream++) {
            shards[stream] = (short) (stream - 1);
            places[stream] = after.place(stream);
        }
        return pool.preparedQuery(LIST)
                .execute(Tuple.of(shards, places, head.whole(), ROWS, MAX_LATE))
                .map(rows -> {
                    List<Listed> listed = new ArrayList<>(rows.size());
                    long floor = 0;
                    for (Row row : rows) {
                        floor = row.getLong("floor");
                        if (row.getLong("n") == null) {
                            continue;
                        }
                        listed.add(new Listed(
                                row.getInteger("shard") + 1,
                                row.getLong("n"),
                                row.getUUID("id"),
                                row.getString("type"),
                                row.getInteger("events"),
                                row.getBoolean("waits")));
                    }
                    return new Listing(floor, listed);
                });
    }

    /** The events of rows of one type, by row, read from the books. */
    Future<Map<UUID, List<OutboxEvent>>> events(String type, List<Listed> rows) {
        Map<Long, UUID> ids = new HashMap<>();
        rows.forEach(row -> ids.put(row.place, row.id));
        return pool.preparedQuery("select n, at, data from outbox_events($1, $2, $3)")
                .execute(Tuple.of(
                        type,
                        rows.stream().map(row -> (short) (row.stream - 1)).toArray(Short[]::new),
                        rows.stream().map(Listed::place).toArray(Long[]::new)))
                .map(found -> {
                    Map<UUID, List<OutboxEvent>> events = new HashMap<>();
                    rows.forEach(row -> events.put(row.id, new ArrayList<>(row.events)));
                    for (Row row : found) {
                        UUID id = ids.get(row.getLong("n"));
                        List<OutboxEvent> told = Objects.requireNonNull(events.get(id));
                        told.add(new OutboxEvent(
                                id + "-" + told.size(), type, row.getString("at"), row.getString("data")));
                    }
                    return events;
                });
    }
}
