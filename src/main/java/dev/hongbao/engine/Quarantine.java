package dev.hongbao.engine;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.store.postgres.Rows;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The packets and draws that are set aside, as this server knows them. It learns its own units at once, and the units of another
 * server from its message. A poll finds lost messages, and units that an operator brought back, within a second. It only refuses
 * early: each settlement asks Postgres. Thread-safe.
 */
public final class Quarantine {
    private static final Logger LOG = LoggerFactory.getLogger(Quarantine.class);

    /** The address on the event bus, without a body: this server has set a unit aside. */
    public static final String SET_ASIDE = "quarantine.set-aside";

    /** The address on the event bus, without a body: another server has set a unit aside. A look follows. */
    public static final String SET_ASIDE_ELSEWHERE = "quarantine.set-aside-elsewhere";

    private static final long LOOK_MILLIS = 1_000;

    /**
     * The limit of units that are left out on this server. At the limit all are forgotten, and noted again when they are met
     * again.
     */
    private static final int MAX_PASSED_OVER = 10_000;

    /** A message of Postgres within this length tells an operator enough. */
    private static final int MAX_REASON = 500;

    private final Loop loop;
    private final Pool pool;
    private volatile Set<UUID> known = Set.of();
    private final Set<UUID> passedOver = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean looking = new AtomicBoolean();
    private final Counter unreadable;
    private long changes;

    /**
     * Published on the event bus at {@link #ADDRESS} after each change that this server learns; best effort. Immutable.
     *
     * @param added the units that are newly set aside; empty if some only came back
     */
    public record Changed(Set<UUID> added) {
        public static final String ADDRESS = "quarantine.changed";

        public Changed {
            added = Set.copyOf(added);
        }
    }

    /**
     * A packet, a draw, or a unit of another {@link Mode}. It is set aside as a whole, since each of its entries follows from the
     * ones before.
     *
     * @param kind one word for the operator, in lower-case letters
     */
    public record Unit(String kind, UUID id) {
        @Override
        public String toString() {
            return kind + " " + id;
        }
    }

    /**
     * The cause of a unit that is set aside.
     *
     * @param sqlState of the refusal; empty for a unit that cannot be read
     */
    public record Mark(int shard, String sqlState, String reason) {
        public Mark {
            reason = reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason;
        }
    }

    /** The treatment of a packet or draw whose row cannot be read. Thread-safe. */
    public final class Unreadable {
        private final boolean isSetAside;

        private Unreadable(boolean isSetAside) {
            this.isSetAside = isSetAside;
        }

        /**
         * A reader met such a unit and leaves it out.
         *
         * @param shard the shard that stores it
         */
        public Future<Void> met(Unit unit, int shard, String reason) {
            if (isSetAside) {
                return setAside(unit, shard, reason);
            }
            passOver(unit, shard, reason);
            return Future.succeededFuture();
        }

        /** Whether requests for the unit are refused: it exists, though it was not read. Never waits. */
        public boolean refuses(UUID id) {
            return isSetAside ? holds(id) : Quarantine.this.refuses(id);
        }
    }

    public Quarantine(Loop loop, Pool pool, MeterRegistry registry) {
        this.loop = loop;
        this.pool = pool;
        Gauge.builder("hongbao.quarantined", this, quarantine -> quarantine.known.size())
                .description("Packets and draws that are set aside; more than 0 needs an operator")
                .register(registry);
        unreadable = Counter.builder("hongbao.unreadable")
                .description(
                        "Packets, draws and campaigns that this server cannot read and leaves out; other servers may read them")
                .register(registry);
    }

    /** For settlers and loaders: a unit that they cannot read is set aside. */
    public Unreadable forOwners() {
        return new Unreadable(true);
    }

    /**
     * For readers: a unit that they cannot read is left out, and refused on this server only. A server of another version, or
     * with newer time zones, may read it, and goes on to settle it.
     */
    public Unreadable forReaders() {
        return new Unreadable(false);
    }

    private void passOver(Unit unit, int shard, String reason) {
        if (passedOver.size() >= MAX_PASSED_OVER) {
            passedOver.clear();
        }
        if (passedOver.add(unit.id())) {
            unreadable.increment();
            LOG.error("{} of shard {} is left out on this server: {}", unit, shard, reason);
        }
    }

    /** Whether a unit that was not found exists all the same: it is set aside, or not readable on this server. Never waits. */
    public boolean refuses(UUID id) {
        return holds(id) || passedOver.contains(id);
    }

    /** Looks now, and every second from now on. Once for each Vert.x instance. Fails if the first look fails. */
    public Future<Void> start() {
        loop.periodic(LOOK_MILLIS, () -> look());
        loop.listen(SET_ASIDE_ELSEWHERE, word -> lookUnlessLooking());
        return look();
    }

    /** Whether a packet or a draw is set aside. Never waits. */
    public boolean holds(UUID id) {
        return known.contains(id);
    }

    private Future<Void> look() {
        long before = changes();
        return pool.query("select id from quarantine_unit").execute().map(rows -> {
            Set<UUID> now = new HashSet<>();
            rows.forEach(row -> now.add(row.getUUID(0)));
            adopt(now, before);
            return null;
        });
    }

    /** Messages of other servers start a look, but never two at a time. */
    private void lookUnlessLooking() {
        if (looking.compareAndSet(false, true)) {
            look().onComplete(looked -> looking.set(false));
        }
    }

    private synchronized long changes() {
        return changes;
    }

    /** A look that began before this server set a unit aside may lack it; it is dropped, and the next look counts. */
    private synchronized void adopt(Set<UUID> now, long readAt) {
        if (readAt == changes && !now.equals(known)) {
            Set<UUID> added = new HashSet<>(now);
            added.removeAll(known);
            known = Set.copyOf(now);
            tell(added);
        }
    }

    /**
     * Sets aside a unit that cannot be read. Idempotent.
     *
     * @param shard the shard that stores it
     */
    public Future<Void> setAside(Unit unit, int shard, String reason) {
        if (holds(unit.id())) {
            return Future.succeededFuture();
        }
        Mark mark = new Mark(shard, "", reason);
        SetAside aside = new SetAside();
        aside.mark(unit, mark);
        Tuple parameters = Tuple.tuple();
        aside.addTo(parameters);
        return pool.preparedQuery("select from (select now() as settled_at) as moment" + aside.call(0))
                .execute(parameters)
                .map(done -> {
                    wasSetAside(unit, mark);
                    return null;
                });
    }

    /** Notes a unit that this server has set aside, after the commit. */
    public void wasSetAside(Unit unit, Mark mark) {
        LOG.error(
                "set aside {} of shard {}: {} {}; its entries wait for `hongbao quarantine`",
                unit,
                mark.shard(),
                mark.sqlState(),
                mark.reason());
        synchronized (this) {
            changes++;
            Set<UUID> more = new HashSet<>(known);
            more.add(unit.id());
            known = Set.copyOf(more);
            tell(Set.of(unit.id()));
        }
        loop.publish(SET_ASIDE, null);
    }

    private void tell(Set<UUID> added) {
        loop.publish(Changed.ADDRESS, new Changed(added));
    }

    /** The units that one settlement sets aside, and the items that it keeps for units that are set aside. Not thread-safe. */
    public static final class SetAside {
        private static final int PARAMETERS = 8;

        private final Map<Unit, Mark> marks = new HashMap<>();
        private final List<String> verbs = new ArrayList<>();
        private final List<JournalItem> items = new ArrayList<>();

        void mark(Unit unit, Mark mark) {
            marks.put(unit, mark);
        }

        /** Keeps an item. Call it in the order of the journal. */
        void keep(String verb, JournalItem item) {
            verbs.add(verb);
            items.add(item);
        }

        /** Keeps another settlement's kept items, too. */
        void keepAll(SetAside other) {
            verbs.addAll(other.verbs);
            items.addAll(other.items);
        }

        public Map<Unit, Mark> marks() {
            return marks;
        }

        public boolean isEmpty() {
            return marks.isEmpty() && items.isEmpty();
        }

        /** The SQL that follows a call which returns {@code settled_at}. Its parameters follow the first {@code before} ones. */
        public String call(int before) {
            return IntStream.rangeClosed(before + 1, before + PARAMETERS)
                    .mapToObj(n -> "$" + n)
                    .collect(Collectors.joining(", ", ", lateral set_aside(settled_at, ", ")"));
        }

        public void addTo(Tuple parameters) {
            List<Map.Entry<Unit, Mark>> all = List.copyOf(marks.entrySet());
            parameters
                    .addArrayOfUUID(
                            Rows.column(all, UUID[]::new, mark -> mark.getKey().id()))
                    .addArrayOfString(Rows.texts(all, mark -> mark.getKey().kind()))
                    .addArrayOfShort(Rows.column(
                            all, Short[]::new, mark -> (short) mark.getValue().shard()))
                    .addArrayOfString(Rows.texts(all, mark -> mark.getValue().sqlState()))
                    .addArrayOfString(Rows.texts(all, mark -> mark.getValue().reason()))
                    .addArrayOfUUID(
                            Rows.column(items, UUID[]::new, item -> item.unit().id()))
                    .addArrayOfString(verbs.toArray(String[]::new))
                    .addArrayOfString(Rows.texts(items, JournalItem::payload));
        }
    }
}
