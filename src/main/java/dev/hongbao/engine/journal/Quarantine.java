package dev.hongbao.engine.journal;

import dev.hongbao.engine.journal.SetAside.Mark;
import dev.hongbao.engine.shard.LocalCodec;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
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

    private final Vertx vertx;
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

    public Quarantine(Vertx vertx, Pool pool, MeterRegistry registry) {
        this.vertx = vertx;
        this.pool = pool;
        Gauge.builder("hongbao.quarantined", this, quarantine -> quarantine.known.size())
                .description("Packets and draws that are set aside; more than 0 needs an operator")
                .register(registry);
        unreadable = Counter.builder("hongbao.unreadable")
                .description(
                        "Packets and draws that this server cannot read and leaves out; other servers may read them")
                .register(registry);
    }

    /** For settlers and loaders: a unit that they cannot read is set aside. */
    public Unreadable forOwners() {
        return new Unreadable() {
            @Override
            public Future<Void> met(QuarantineUnit unit, int shard, String reason) {
                return setAside(unit, shard, reason);
            }

            @Override
            public boolean refuses(UUID id) {
                return holds(id);
            }
        };
    }

    /**
     * For readers: a unit that they cannot read is left out, and refused on this server only. A server of another version, or
     * with newer time zones, may read it, and goes on to settle it.
     */
    public Unreadable forReaders() {
        return new Unreadable() {
            @Override
            public Future<Void> met(QuarantineUnit unit, int shard, String reason) {
                passOver(unit, shard, reason);
                return Future.succeededFuture();
            }

            @Override
            public boolean refuses(UUID id) {
                return Quarantine.this.refuses(id);
            }
        };
    }

    private void passOver(QuarantineUnit unit, int shard, String reason) {
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
        LocalCodec.register(vertx.eventBus(), Changed.class);
        vertx.setPeriodic(LOOK_MILLIS, tick -> look());
        vertx.eventBus().localConsumer(SET_ASIDE_ELSEWHERE, word -> lookUnlessLooking());
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
    public Future<Void> setAside(QuarantineUnit unit, int shard, String reason) {
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
    public void wasSetAside(QuarantineUnit unit, Mark mark) {
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
        vertx.eventBus().publish(SET_ASIDE, null);
    }

    private void tell(Set<UUID> added) {
        vertx.eventBus().publish(Changed.ADDRESS, new Changed(added));
    }
}
