package dev.hongbao.engine.postgres;

import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What was put away with its month, so that nobody is told a sum that lacks it: Postgres decides, by {@code is_archived}. It is asked after
 * what is told was read: a month goes in one transaction, so an answer is either whole or refused. Safe on any thread.
 */
public final class ArchivedMonths {
    /** Postgres lets nobody archive a month before it has been over for a day: so a clock may be wrong by this much. */
    private static final Duration TOLERANCE = Duration.ofHours(12);

    private static final String IS_ARCHIVED = "select is_archived($1)";
    private static final String UNTIL = "select max(last_at) from archive_month where archived_at is not null";

    private final SqlClient sql;
    private final Clock clock;

    public ArchivedMonths(SqlClient sql) {
        this(sql, Clock.systemUTC());
    }

    ArchivedMonths(SqlClient sql, Clock clock) {
        this.sql = sql;
        this.clock = clock;
    }

    /**
     * An answer about a packet, a draw, a campaign or a command, unless it was archived. Of this month's Postgres is not asked.
     *
     * @param subject a UUIDv7
     * @return the answer; refused with ARCHIVED, also when it has failed
     */
    public <T> Future<T> unlessArchived(UUID subject, Future<T> answer) {
        return mayBeArchived(subject)
                ? answer.transform(read -> isArchived(subject)
                        .compose(archived -> archived
                                ? Future.failedFuture(
                                        new RefusedException(Refusal.ARCHIVED, "Its month was put away into files."))
                                : answer))
                : answer;
    }

    private boolean mayBeArchived(UUID subject) {
        Instant made = Instant.ofEpochMilli(subject.getMostSignificantBits() >>> 16);
        return month(made).isBefore(month(clock.instant().plus(TOLERANCE)));
    }

    private static YearMonth month(Instant moment) {
        return YearMonth.from(moment.atOffset(ZoneOffset.UTC));
    }

    private Future<Boolean> isArchived(UUID subject) {
        return sql.preparedQuery(IS_ARCHIVED)
                .execute(Tuple.of(subject))
                .map(rows -> rows.iterator().next().getBoolean(0));
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
