package dev.hongbao.domain.ledger;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Sha256;
import dev.hongbao.common.values.UserId;
import dev.hongbao.engine.postgres.Transactions;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.Arrays;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Commands that happen once (invariant I6): the key is written in the command's own transaction, so it is bound by success
 * only. Thread-safe.
 */
public final class Idempotency {
    private final Pool pool;

    public Idempotency(Pool pool) {
        this.pool = pool;
    }

    /**
     * Which command, by whom.
     *
     * @param operation what the key is scoped to besides the user
     * @param user whom the key is scoped to: the caller, or whose wallet the host moves
     * @param wish every field of the command in one unambiguous text; another text under the same key is refused
     * @param origin who asks
     */
    public record Scope(UserId user, String operation, IdempotencyKey key, String wish, Origin origin) {
        /** Of a caller's own command, with nothing noted. */
        public static Scope of(Caller caller, String operation, IdempotencyKey key, String wish) {
            return new Scope(caller.user(), operation, key, wish, Origin.of(caller));
        }

        /**
         * What the database says of it.
         *
         * @param name as the database gives it; a repetition is noted in the key
         */
        public Verdict verdict(String name) {
            Verdict verdict = Verdict.of(name);
            if (verdict == Verdict.REPLAYED) {
                key.repeats();
            }
            return verdict;
        }

        private Tuple place() {
            return Tuple.of(user.value(), operation, key.value());
        }

        /** Tells this command from others under the same key: 32 bytes. */
        public byte[] fingerprint() {
            return Sha256.of(wish);
        }
    }

    /**
     * A command that is done.
     *
     * @param subject what it made
     * @param fresh what else is known of it; null when it was done before
     */
    public record Done<T>(UUID subject, @Nullable T fresh) {}

    /**
     * Runs {@code work} in a transaction unless the key was used before. Two calls at once with one key wait for each other.
     *
     * @param work does the command; may run more than once, of which one commits
     * @return what {@code work} gave; or, when the key was used before, the subject of then and nothing fresh. Refused with
     *     IDEMPOTENCY_KEY_REUSED, or as {@code work} fails
     */
    public <T> Future<Done<T>> once(Scope scope, Function<SqlConnection, Future<Done<T>>> work) {
        return Transactions.run(pool, tx -> {
            // Sent at once. The lock's error comes first: to the look it is only that the transaction is aborted.
            var locked = tx.preparedQuery(
                            "select pg_advisory_xact_lock(hashtextextended(concat_ws(' ', $1::text, $2::text,"
                                    + " $3::text), 0))")
                    .execute(scope.place());
            var used = before(tx, scope);
            return locked.compose(done -> used)
                    .compose(subject -> subject == null
                            ? work.apply(tx).compose(done -> remember(tx, scope, done))
                            : Future.succeededFuture(new Done<>(subject, null)));
        });
    }

    private static <T> Future<Done<T>> remember(SqlConnection tx, Scope scope, Done<T> done) {
        return tx.preparedQuery("insert into idempotency (user_id, operation, key, fingerprint, subject)"
                        + " values ($1, $2, $3, $4, $5)")
                .execute(scope.place()
                        .addBuffer(Buffer.buffer(scope.fingerprint()))
                        .addUUID(done.subject))
                .map(done);
    }

    /**
     * What a command made that was done before: for a refusal that comes before the command is tried. A repetition gets the first answer,
     * whatever has become of the caller's rights since.
     *
     * @return null when the key was not used; refused with IDEMPOTENCY_KEY_REUSED when another command was done under it
     */
    public static Future<@Nullable UUID> before(SqlClient client, Scope scope) {
        return client.preparedQuery("select fingerprint, subject from idempotency"
                        + " where user_id = $1 and operation = $2 and key = $3")
                .execute(scope.place())
                .compose(rows -> {
                    if (rows.rowCount() == 0) {
                        return Future.succeededFuture();
                    }
                    var first = rows.iterator().next();
                    if (!Arrays.equals(first.getBuffer(0).getBytes(), scope.fingerprint())) {
                        return Future.failedFuture(Verdict.REUSED.refusal());
                    }
                    scope.key.repeats();
                    return Future.succeededFuture(first.getUUID(1));
                });
    }
}
