package dev.hongbao.engine.postgres;

import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What was put away with its month, so that nobody is told a sum that lacks it: Postgres decides, by {@code is_archived}. It is asked after
 * what is told was read: a month goes in one transaction, so an answer is either whole or refused. One a server:
 * what one part of it hears of Postgres all know. Thread-safe.
 */
public final class ArchivedMonths {
    /** A month that is not over cannot be archived within a day, so Postgres' answer about it holds for a day. It is asked once an hour. */
    private static final Duration HOLDS = Duration.ofHours(1);

    private static final String IS_ARCHIVED =
            "select is_archived($1), (extract(epoch from date_trunc('month', now(), 'UTC')) * 1000)::bigint";
    private static final String UNTIL = "select max(last_at) from archive_month where archived_at is not null";

    private final SqlClient sql;
    private volatile @Nullable Month current;

    /**
     * The month that is not over.
     *
     * @param begins in milliseconds since 1970, by Postgres' clock
     * @param heardNanos of {@link System#nanoTime}, when Postgres said so
     */
    private record Month(long begins, long heardNanos) {
        boolean holds(UUID subject) {
            long made = subject.getMostSignificantBits() >>> 16;
            return made >= begins && System.nanoTime() - heardNanos < HOLDS.toNanos();
        }
    }

    public ArchivedMonths(SqlClient sql) {
        this.sql = sql;
    }

    /**
     * An answer about a packet, a draw, a campaign or a command, unless it was archived. Of this month's Postgres is asked once an hour.
     *
     * @param subject a UUIDv7
     * @return the answer; refused with ARCHIVED, also when it has failed
     */
    public <T> Future<T> unlessArchived(UUID subject, Future<T> answer) {
        Month known = current;
        return known != null && known.holds(subject)
                ? answer
                : answer.transform(read -> isArchived(subject)
                        .compose(archived -> archived
                                ? Future.failedFuture(
                                        new RefusedException(Refusal.ARCHIVED, "Its month was put away into files."))
                                : answer));
    }

    private Future<Boolean> isArchived(UUID subject) {
        long askedNanos = System.nanoTime();
        return sql.preparedQuery(IS_ARCHIVED).execute(Tuple.of(subject)).map(rows -> {
            Row row = rows.iterator().next();
            current = new Month(row.getLong(1), askedNanos);
            return row.getBoolean(0);
        });
    }

    /** An answer that adds up what happened from a moment on; refused with ARCHIVED when some of that was archived. */
    public <T> Future<T> unlessBegunBy(Instant from, Future<T> answer) {
        return answer.compose(read -> until().compose(until -> until == null || until.isBefore(from)
                ? Future.succeededFuture(read)
                : Future.failedFuture(new RefusedException(
                        Refusal.ARCHIVED, "Transfers up to " + until + " were put away: ask for what is later."))));
    }

    /** A list that says up to when it may lack what was archived. */
    public <T> Future<Page<T>> told(Future<Page<T>> list) {
        return list.compose(page -> until().map(page::archivedUntil));
    }

    /** When the latest transfer was made that was archived; null when none was. */
    private Future<@Nullable Instant> until() {
        return sql.query(UNTIL).execute().map(rows -> {
            OffsetDateTime latest = rows.iterator().next().getOffsetDateTime(0);
            return latest == null ? null : latest.toInstant();
        });
    }
}
