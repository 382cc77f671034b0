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
 * The packets and draws that are set aside, as this server knows: at once what it sets aside itself and what another server says that it
 * has, within a second what others do and what an operator brings back. It only refuses early; Postgres is asked before anything of them is settled.
 * Thread-safe.
 */
public final class Quarantine {
    private static final Logger LOG = LoggerFactory.getLogger(Quarantine.class);

    /** Where it is published, without a body, that this server has set something aside. */
    public static final String SET_ASIDE = "quarantine.set-aside";

    /** Where it is published, without a body, that another server has: it is looked for then. */
    public static final String SET_ASIDE_ELSEWHERE = "quarantine.set-aside-elsewhere";

    private static final long LOOK_MILLIS = 1_000;

    /** Passed over on this server, so many at the most; what is forgotten is noted again as it is met again. */
    private static final int MAX_PASSED_OVER = 10_000;

    private final Vertx vertx;
    private final Pool pool;
    private volatile Set<UUID> known = Set.of();
    private final Set<UUID> passedOver = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean looking = new AtomicBoolean();
    private final Counter unreadable;
    private long changes;

    /**
     * Published on the event bus at {@link #ADDRESS} whenever this server hears of a change; best effort. Immutable.
     *
     * @param added what is set aside now and was not before
     */
    public record Changed(Set<UUID> added) {
        /** Where it is published. */
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

    /** For who settles or loads: what it cannot read is set aside. */
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
     * For who only tells what is there: what it cannot read is left out, and refused on this server alone. Another server may be able to
     * read it, of another version or with newer time zones; and it settles what this one cannot show.
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

    /** Whether a packet or a draw that was not found is there all the same: set aside, or not readable on this server. Never waits. */
    public boolean refuses(UUID id) {
        return holds(id) || passedOver.contains(id);
    }

    /** Looks for the first time, and again every second from now on. Once a Vert.x instance. */
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

    /** Whoever else speaks has it looked for no faster than Postgres answers. */
    private void lookUnlessLooking() {
        if (looking.compareAndSet(false, true)) {
            look().onComplete(looked -> looking.set(false));
        }
    }

    private synchronized long changes() {
        return changes;
    }

    /** What was read before this server set something aside itself says nothing about that: the next look does. */
    private synchronized void adopt(Set<UUID> now, long readAt) {
        if (readAt == changes && !now.equals(known)) {
            Set<UUID> added = new HashSet<>(now);
            added.removeAll(known);
            known = Set.copyOf(now);
            tell(added);
        }
    }

    /**
     * Sets a unit aside that cannot even be read; a no-op for one that is set aside.
     *
     * @param shard that it is stored with
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

    /** This server has set a unit aside, committed. */
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
