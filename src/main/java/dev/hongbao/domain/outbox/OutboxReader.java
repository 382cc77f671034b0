package dev.hongbao.domain.outbox;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.domain.outbox.OutboxHead.Head;
import dev.hongbao.domain.outbox.OutboxPage.Gap;
import dev.hongbao.domain.outbox.OutboxStore.Listed;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the outbox from a cursor on. Events of one packet or draw always come in their order, on one page or over several. Thread-safe. */
public final class OutboxReader {
    private static final Logger LOG = LoggerFactory.getLogger(OutboxReader.class);

    /** The most events of a page. */
    public static final int MAX_EVENTS = 1_000;

    /** About 400 bytes each. Rows never change, so cached events stay true. */
    private static final int REMEMBERED_EVENTS = 20_000;

    private final OutboxHead head;
    private final OutboxStore store;
    private final Cache<UUID, List<OutboxEvent>> remembered = Caffeine.newBuilder()
            .maximumWeight(REMEMBERED_EVENTS)
            .weigher((UUID row, List<OutboxEvent> events) -> events.size() + 1)
            .build();

    public OutboxReader(Pool pool, OutboxHead head) {
        this.head = head;
        this.store = new OutboxStore(pool);
    }

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
            return store.list(from, now).compose(listing -> {
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
        unknown.forEach((type, rows) -> reads.add(store.events(type, rows)));
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

        /** Takes rows in their order of creation, up to the place where every stream is listed. */
        void choose(List<Listed> rows) {
            long to = listedUpTo(rows);
            Listed begun = begun(rows);
            if (begun != null) {
                take(begun);
            }
            for (Listed row : rows) {
                if (row == begun) {
                    continue;
                }
                if (row.waits() || row.place() > to || room == 0 || firstUnread.containsKey(row.stream())) {
                    firstUnread.putIfAbsent(row.stream(), row.place());
                } else {
                    take(row);
                }
            }
            if (to < Long.MAX_VALUE) {
                for (int stream = 0; stream < cursor.streams(); stream++) {
                    firstUnread.merge(stream, to + 1, Math::min);
                }
            }
        }

        /** The row with some events already read. It is finished before the next row begins. */
        private @Nullable Listed begun(List<Listed> rows) {
            return rows.stream()
                    .filter(row -> cursor.eventsRead(row.stream()) > 0)
                    .findFirst()
                    .orElse(null);
        }

        private static long listedUpTo(List<Listed> rows) {
            Map<Integer, List<Listed>> streams = rows.stream().collect(Collectors.groupingBy(Listed::stream));
            return streams.values().stream()
                    .filter(stream -> stream.size() == OutboxStore.ROWS)
                    .mapToLong(stream -> stream.get(OutboxStore.ROWS - 1).place())
                    .min()
                    .orElse(Long.MAX_VALUE);
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
