package dev.hongbao.store.postgres;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.SqlClient;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Postgres' clock, as this server knows it: Postgres' last answer, plus the time since it arrived. The wall clock of this machine
 * plays no part. So it never leads, except for up to a second after Postgres' own clock goes back. It is for early refusals and
 * for the script's {@code now}; SQL decides what is due. Thread-safe.
 */
public final class StoreClock extends Clock {
    private static final Logger LOG = LoggerFactory.getLogger(StoreClock.class);

    private static final long EVERY_MILLIS = 1_000;

    /** A slower answer lags by up to this. It counts only if the answer before must be wrong. */
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** A slower answer is not waited for. */
    private static final long LOST_MILLIS = 10_000;

    private final SqlClient postgres;
    private final LongSupplier nanoTime;
    private final AtomicBoolean asking = new AtomicBoolean();
    private volatile @Nullable Answer last;

    /**
     * An answer of Postgres.
     *
     * @param askedNanos of the monotonic clock, like {@code arrivedNanos}
     */
    private record Answer(long askedNanos, long arrivedNanos, Instant said) {
        Instant at(long nanos) {
            return said.plusNanos(nanos - arrivedNanos);
        }
    }

    /** @param nanoTime a monotonic clock: {@code System::nanoTime}, except in tests */
    public StoreClock(SqlClient postgres, LongSupplier nanoTime) {
        this.postgres = postgres;
        this.nanoTime = nanoTime;
    }

    /** Asks Postgres now, and every second from now on. Fails if the first question fails. */
    public Future<Void> follow(Vertx vertx) {
        vertx.setPeriodic(EVERY_MILLIS, tick -> {
            if (asking.compareAndSet(false, true)) {
                ask().timeout(LOST_MILLIS, TimeUnit.MILLISECONDS)
                        .onFailure(away -> LOG.debug("Postgres' clock was not read: {}", away.getMessage()))
                        .onComplete(asked -> asking.set(false));
            }
        });
        return ask();
    }

    public Future<Void> ask() {
        long asked = nanoTime.getAsLong();
        return postgres.query("select clock_timestamp()").execute().map(rows -> {
            answered(
                    asked,
                    nanoTime.getAsLong(),
                    rows.iterator().next().getOffsetDateTime(0).toInstant());
            return null;
        });
    }

    /** Takes an answer. The answer to the later question counts. */
    synchronized void answered(long askedNanos, long arrivedNanos, Instant said) {
        Answer before = last;
        if (before != null) {
            long took = arrivedNanos - askedNanos;
            Instant expected = before.at(arrivedNanos);
            boolean agrees = !expected.isBefore(said) && !expected.isAfter(said.plusNanos(took));
            if (askedNanos - before.askedNanos < 0 || (took > SLOW_NANOS && agrees)) {
                return;
            }
        }
        last = new Answer(askedNanos, arrivedNanos, said);
    }

    /**
     * To the microsecond, like Postgres' own times.
     *
     * @throws IllegalStateException before the first answer
     */
    @Override
    public Instant instant() {
        Answer known = last;
        if (known == null) {
            throw new IllegalStateException("Postgres was not asked for the time yet");
        }
        return known.at(nanoTime.getAsLong()).truncatedTo(ChronoUnit.MICROS);
    }

    @Override
    public ZoneId getZone() {
        return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
        throw new UnsupportedOperationException("Postgres' clock is in UTC");
    }
}
