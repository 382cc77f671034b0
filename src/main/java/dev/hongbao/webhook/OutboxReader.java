package dev.hongbao.webhook;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.webhook.OutboxHead.Head;
import dev.hongbao.webhook.OutboxPage.Gap;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the outbox from a cursor on. Events of one packet or draw always come in their order, on one page or over several. Thread-safe. */
final class OutboxReader {
    private static final Logger LOG = LoggerFactory.getLogger(OutboxReader.class);

    /** The most events of a page. */
    public static final int MAX_EVENTS = 1_000;

    /** About 400 bytes each. Rows never change, so cached events stay true. */
    private static final int REMEMBERED_EVENTS = 20_000;

    /** Rows of a stream in one list. */
    private static final int ROWS = 64;

    /**
     * Visible rows without a shard that may still have earlier rows to come. Beyond this number, all rows of shards wait for them, until
     * the oldest transaction ends.
     */
    private static final int MAX_LATE = 1_000;

    /**
     * The next rows of each stream. A packet is sent before it is claimed. So a row of a shard waits while a row without a shard names the
     * same packet or draw and is not complete. A complete row never waits: all rows before it are visible.
     */
    private static final String LIST = """
            with late as materialized (
                select o.subjects from outbox as o where o.shard = -1 and o.n > $3 order by o.n limit $5 + 1
            ), late_subjects as materialized (
                select distinct s.id from late cross join lateral unnest(late.subjects) as s(id)
            )
            select z.floor, r.shard, r.n, r.id, r.type, r.events,
                   case when r.shard = -1 or r.n <= $3 or not exists (select from late) then false
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

    private final OutboxHead head;
    private final Pool pool;
    private final Cache<UUID, List<OutboxEvent>> remembered = Caffeine.newBuilder()
            .maximumWeight(REMEMBERED_EVENTS)
            .weigher((UUID row, List<OutboxEvent> events) -> events.size() + 1)
            .executor(Runnable::run)
            .build();

    public OutboxReader(Pool pool, OutboxHead head) {
        this.head = head;
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
    private record Listed(int stream, long place, UUID id, String type, int events, boolean waits) {}

    /**
     * The next rows.
     *
     * @param floor rows up to here may have been removed
     * @param rows at most {@link #ROWS} of each stream, in the order of creation
     */
    private record Listing(long floor, List<Listed> rows) {}

    /**
     * A part of a row.
     *
     * @param from its first event
     * @param to after its last event
     */
    private record Part(Listed row, int from, int to) {}

    /** The cursor before all kept rows. */
    public Future<OutboxCursor> oldest() {
        return head.look().map(now -> OutboxCursor.at(now.era(), head.streams(), now.floor()));
    }

    /** The cursor after all complete rows. Some events of this moment may follow it. */
    public Future<OutboxCursor> latest() {
        return head.look().map(now -> OutboxCursor.at(now.era(), head.streams(), now.whole()));
    }

    /** Whether a cursor has the right number of streams. */
    public boolean fits(OutboxCursor cursor) {
        return cursor.streams() == head.streams();
    }

    /** Whether there may be events after a cursor. Cheap: all waiting readers share the answer. */
    public Future<Boolean> hasEvents(OutboxCursor after) {
        return head.look()
                .map(now -> now.newest() > after.most()
                        || !now.era().equals(after.era())
                        || after.least() < now.whole()
                        || after.least() < now.floor());
    }

    /**
     * The next events.
     *
     * @param after one that {@link #fits}
     * @param types the wanted types; others are skipped
     * @param most events, 1 … {@link #MAX_EVENTS}
     */
    public Future<OutboxPage> read(OutboxCursor after, Set<String> types, int most) {
        return head.look().compose(now -> {
            Gap gap = gap(after, now);
            OutboxCursor from = gap == Gap.RESTORED
                    ? OutboxCursor.at(now.era(), head.streams(), now.floor())
                    : after.atLeast(now.floor());
            return list(from, now).compose(listing -> {
                Choice choice = new Choice(from, types, most);
                choice.choose(listing.rows());
                boolean sweptNow = gap == null && from.least() < listing.floor();
                return expand(choice.parts)
                        .map(events -> new OutboxPage(events, choice.next(now.whole()), sweptNow ? Gap.EXPIRED : gap));
            });
        });
    }

    private static @Nullable Gap gap(OutboxCursor after, Head now) {
        if (!now.era().equals(after.era())) {
            return Gap.RESTORED;
        }
        return after.least() < now.floor() ? Gap.EXPIRED : null;
    }

    private Future<List<OutboxEvent>> expand(List<Part> parts) {
        Map<UUID, List<OutboxEvent>> known = new HashMap<>(remembered.getAllPresent(
                parts.stream().map(part -> part.row.id()).toList()));
        Map<String, List<Listed>> unknown = parts.stream()
                .map(Part::row)
                .filter(row -> !known.containsKey(row.id()))
                .collect(Collectors.groupingBy(Listed::type));
        List<Future<Map<UUID, List<OutboxEvent>>>> reads = new ArrayList<>();
        unknown.forEach((type, rows) -> reads.add(events(type, rows)));
        return Future.all(reads).map(all -> {
            reads.forEach(read -> {
                remembered.putAll(read.result());
                known.putAll(read.result());
            });
            List<OutboxEvent> events = new ArrayList<>();
            for (Part part : parts) {
                List<OutboxEvent> row = known.getOrDefault(part.row.id(), List.of());
                if (row.size() != part.row.events()) {
                    // Delivered all the same, as the books have them. Otherwise the row would block all later events.
                    LOG.error(
                            "row {} of the outbox names {} facts, and the books have {}: run reconcile",
                            part.row.place(),
                            part.row.events(),
                            row.size());
                }
                events.addAll(row.subList(Math.min(part.from, row.size()), Math.min(part.to, row.size())));
            }
            return events;
        });
    }

    /** The next rows after a cursor. */
    private Future<Listing> list(OutboxCursor after, Head head) {
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
    private Future<Map<UUID, List<OutboxEvent>>> events(String type, List<Listed> rows) {
        Map<Long, UUID> ids = new HashMap<>();
        rows.forEach(row -> ids.put(row.place, row.id));
        return pool.preparedQuery("select n, at, data from outbox_events($1, $2, $3)")
                .execute(Tuple.of(
                        type,
                        Rows.column(rows, Short[]::new, row -> (short) (row.stream - 1)),
                        Rows.column(rows, Long[]::new, Listed::place)))
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

    /** The choice of the next rows for a page. */
    private static final class Choice {
        private final Set<String> types;
        private final List<Part> parts = new ArrayList<>();
        private final Map<Integer, Long> firstUnread = new HashMap<>();
        private OutboxCursor cursor;
        private int room;

        Choice(OutboxCursor from, Set<String> types, int most) {
            this.cursor = from;
            this.types = types;
            this.room = most;
        }

        /**
         * Takes rows in their order of creation, as far as they are listed. Rows without a shard keep their order with all rows, but shards
         * not with each other.
         */
        void choose(List<Listed> rows) {
            Map<Integer, Long> ends = ends(rows);
            long ofAny = ends.values().stream().min(Long::compare).orElse(Long.MAX_VALUE);
            long ofNoShard = ends.getOrDefault(OutboxCursor.NO_SHARD, Long.MAX_VALUE);
            Listed begun = begun(rows);
            if (begun != null) {
                take(begun);
            }
            for (Listed row : rows) {
                if (row == begun) {
                    continue;
                }
                if (row.waits()
                        || row.place() > (row.stream() == OutboxCursor.NO_SHARD ? ofAny : ofNoShard)
                        || room == 0
                        || firstUnread.containsKey(OutboxCursor.NO_SHARD)
                        || firstUnread.containsKey(row.stream())) {
                    firstUnread.putIfAbsent(row.stream(), row.place());
                } else {
                    take(row);
                }
            }
            ends.forEach((stream, end) -> firstUnread.merge(stream, end + 1, Math::min));
        }

        /** The row with some events already read. It is finished before the next row begins. */
        private @Nullable Listed begun(List<Listed> rows) {
            return rows.stream()
                    .filter(row -> cursor.eventsRead(row.stream()) > 0)
                    .findFirst()
                    .orElse(null);
        }

        /** The last listed place of each stream that may have further rows. */
        private static Map<Integer, Long> ends(List<Listed> rows) {
            Map<Integer, List<Listed>> streams = rows.stream().collect(Collectors.groupingBy(Listed::stream));
            streams.values().removeIf(stream -> stream.size() < ROWS);
            Map<Integer, Long> ends = new HashMap<>();
            streams.forEach(
                    (stream, listed) -> ends.put(stream, listed.get(ROWS - 1).place()));
            return ends;
        }

        private void take(Listed row) {
            if (!types.contains(row.type())) {
                cursor = cursor.to(row.stream(), row.place());
                return;
            }
            int from = Math.min(cursor.eventsRead(row.stream()), row.events());
            int to = Math.min(row.events(), from + room);
            parts.add(new Part(row, from, to));
            room -= to - from;
            if (to == row.events()) {
                cursor = cursor.to(row.stream(), row.place());
            } else {
                cursor = cursor.with(row.stream(), to);
                firstUnread.put(row.stream(), row.place());
            }
        }

        /** The next cursor. A stream without unread rows advances to the end of its complete rows. */
        OutboxCursor next(long whole) {
            for (int stream = 0; stream < cursor.streams(); stream++) {
                long upTo = Math.min(whole, firstUnread.getOrDefault(stream, Long.MAX_VALUE) - 1);
                if (upTo > cursor.place(stream) && cursor.eventsRead(stream) == 0) {
                    cursor = cursor.to(stream, upTo);
                }
            }
            return cursor;
        }
    }
}
