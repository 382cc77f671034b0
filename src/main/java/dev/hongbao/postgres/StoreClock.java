package dev.hongbao.postgres;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.SqlClient;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Postgres' clock, as this server knows it: its own, corrected by the difference measured every ten seconds. So all servers
 * agree, to some milliseconds, on what is due. Safe on any thread.
 */
public final class StoreClock extends Clock {
    private static final Logger LOG = LoggerFactory.getLogger(StoreClock.class);

    private static final long EVERY_MILLIS = 10_000;

    /** A measurement that took longer is not used: its error is up to half of it. */
    private static final long SLOW_MILLIS = 200;

    private final Clock base;
    private volatile Duration ahead = Duration.ZERO;

    /**
     * @param base the system's clock, or a test's, which is corrected in the same way
     */
    public StoreClock(Clock base) {
        this.base = base;
    }

    /** Measures now and then. The future succeeds in any case. */
    public Future<Void> follow(Vertx vertx, SqlClient postgres) {
        vertx.setPeriodic(EVERY_MILLIS, tick -> measure(postgres));
        return measure(postgres).otherwiseEmpty();
    }

    private Future<Void> measure(SqlClient postgres) {
        Instant sent = Instant.now();
        return postgres.query("select clock_timestamp()")
                .execute()
                .<Void>map(rows -> {
                    Instant received = Instant.now();
                    Duration took = Duration.between(sent, received);
                    if (!took.isNegative() && took.toMillis() < SLOW_MILLIS) {
                        Instant theirs =
                                rows.iterator().next().getOffsetDateTime(0).toInstant();
                        ahead = Duration.between(sent.plus(took.dividedBy(2)), theirs);
                    }
                    return null;
                })
                .onFailure(away -> LOG.debug("Postgres' clock was not read: {}", away.getMessage()));
    }

    @Override
    public Instant instant() {
        return base.instant().plus(ahead);
    }

    @Override
    public ZoneId getZone() {
        return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
        return zone.equals(ZoneOffset.UTC)
                ? this
                : Clock.tick(this, Duration.ofNanos(1)).withZone(zone);
    }
}
