package dev.hongbao.access;

import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.Caller;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowIterator;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The revoked tokens, in this server's memory. Its own revocations show at once, others' within a second. All are read before the first
 * call is answered. Without Postgres it keeps its last state. Checks never wait. Thread-safe.
 */
final class Revocations {
    /** The most users with revocations. A server holds the moment of each, about 100 bytes. */
    private static final int MOST = 1_000_000;

    private static final String ROWS = "select n, user_id, not_before from revocation where n > $1 order by n limit $2";

    private static final String IN_FORCE =
            "select max(max(n)) over () as n, user_id, max(not_before) as not_before from revocation group by user_id";

    private static final String OF_USER = """
        select user_id, not_before, actor, reason, at from revocation where user_id = $1 order by not_before desc, n limit 1
        """;

    private final Pool requests;
    private final History history;
    private volatile Map<UserId, Long> notBeforeSeconds = new ConcurrentHashMap<>();

    /**
     * @param pool for the polls
     * @param requests for revocations, and for reads of the history
     */
    public Revocations(Pool pool, Pool requests) {
        this.requests = requests;
        this.history = new History(pool, IN_FORCE, ROWS, this::begin, this::know);
    }

    /** Reads all revocations, then looks for new ones four times a second. Once per Vert.x instance. */
    public Future<Void> start(Vertx vertx) {
        return history.start(vertx);
    }

    /** Reads all again, for a Postgres that stepped back. */
    public Future<Void> reload() {
        return history.reload();
    }

    private void begin(List<Row> rows) {
        Map<UserId, Long> now = new ConcurrentHashMap<>();
        rows.forEach(row -> know(now, row));
        notBeforeSeconds = now;
    }

    private void know(Row row) {
        know(notBeforeSeconds, row);
    }

    private static void know(Map<UserId, Long> moments, Row row) {
        moments.merge(
                new UserId(row.getString("user_id")),
                row.getOffsetDateTime("not_before").toEpochSecond(),
                Math::max);
    }

    /** Whether the caller's token is revoked: it was made before its user's moment, or names no time. */
    public boolean includes(Caller caller) {
        Map<UserId, Long> now = notBeforeSeconds;
        Long notBefore = now.isEmpty() ? null : now.get(caller.user());
        return notBefore != null
                && (caller.issuedAt() == null || caller.issuedAt().getEpochSecond() < notBefore);
    }

    /**
     * Revokes all tokens of a user that were made before a moment. Idempotent by (actor, key), for a year at least. A moment before the
     * user's latest one changes nothing else.
     *
     * @param before by the clock of the tokens' issuer, at most 5 minutes ahead; rounded up to the second. Null: now, by Postgres' clock
     * @param actor the caller
     * @param reason one line of 1 to 200 characters; null for none
     * @return refused with IDEMPOTENCY_KEY_REUSED; fails with {@link InvalidInputException} when the moment is further ahead
     */
    public Future<Revocation> revoke(
            UserId user, @Nullable Instant before, UserId actor, IdempotencyKey key, @Nullable String reason) {
        if (notBeforeSeconds.size() >= MOST && !notBeforeSeconds.containsKey(user)) {
            return Refusal.INVALID.failure(Reason.FULL, Text.of("revocation.too-many", MOST));
        }
        return requests.preparedQuery("select * from revoke_tokens($1, $2, $3, $4, $5)")
                .execute(Tuple.of(
                        user.value(),
                        before == null ? null : before.atOffset(ZoneOffset.UTC),
                        actor.value(),
                        key.value(),
                        reason))
                .map(rows -> {
                    RowIterator<Row> found = rows.iterator();
                    if (!found.hasNext()) {
                        throw InvalidInputException.of("#/before", Text.of("revocation.too-far-ahead"));
                    }
                    Row row = found.next();
                    Revocation done = revocation(row);
                    if (row.getBoolean("repeated")) {
                        requireSame(done, user, before, reason);
                        key.repeats();
                    }
                    return done;
                })
                .compose(done -> history.catchUp().map(done));
    }

    private static void requireSame(Revocation done, UserId user, @Nullable Instant before, @Nullable String reason) {
        boolean isSame = done.user().equals(user)
                && Objects.equals(done.reason(), reason)
                && (before == null
                        ? isItsOwnMoment(done)
                        : before.plusNanos(999_999_999).getEpochSecond()
                                == done.notBefore().getEpochSecond());
        if (!isSame) {
            throw new RefusedException(Refusal.IDEMPOTENCY_KEY_REUSED, Text.of("command.key-reused"));
        }
    }

    /** Whether it was requested without a moment. Then its moment is its own time, rounded up to the second. */
    private static boolean isItsOwnMoment(Revocation done) {
        Duration later = Duration.between(done.at(), done.notBefore());
        return !later.isNegative() && later.compareTo(Duration.ofSeconds(1)) <= 0;
    }

    /** A user's revocation with the latest moment; null for none. */
    public Future<@Nullable Revocation> of(UserId user) {
        return requests.preparedQuery(OF_USER).execute(Tuple.of(user.value())).map(rows -> {
            RowIterator<Row> found = rows.iterator();
            return found.hasNext() ? revocation(found.next()) : null;
        });
    }

    private static Revocation revocation(Row row) {
        return new Revocation(
                new UserId(row.getString("user_id")),
                Rows.instant(row, "not_before"),
                row.getString("actor"),
                row.getString("reason"),
                Rows.instant(row, "at"));
    }

    /**
     * A revocation of all tokens of a user that were made before a moment.
     *
     * @param notBefore the moment, a whole second; a token of this second or later is valid
     * @param by the subject of the revoking token
     * @param reason one line of 1 to 200 characters; null for none
     * @param at time of the revocation
     */
    public record Revocation(
            UserId user,
            Instant notBefore,
            String by,
            @Nullable String reason,
            Instant at) {}
}
