package dev.hongbao.ledger;

import dev.hongbao.ledger.Ledger.Verdict;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.values.Caller;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.Sha256;
import dev.hongbao.values.UserId;
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

/** Commands that happen once (invariant I6). The command's own transaction writes the key, so only a success binds it. Thread-safe. */
public final class Idempotency {
    private static final String REMEMBER = """
        insert into idempotency (user_id, operation, key, fingerprint, subject) values ($1, $2, $3, $4, $5)
        """;

    private static final String BEFORE = """
        select fingerprint, subject from idempotency where user_id = $1 and operation = $2 and key = $3
        """;

    private final Pool pool;

    public Idempotency(Pool pool) {
        this.pool = pool;
    }

    /**
     * A command with its key.
     *
     * @param operation a part of the key's scope, beside the user
     * @param user a part of the key's scope: the caller, or the user whose wallet the host moves
     * @param wish all fields of the command in one unambiguous text; a different text under the same key is refused
     * @param origin the caller
     */
    public record Scope(UserId user, String operation, IdempotencyKey key, String wish, Origin origin) {
        /** A caller's own command, without a note. */
        public static Scope of(Caller caller, String operation, IdempotencyKey key, String wish) {
            return new Scope(caller.user(), operation, key, wish, Origin.of(caller));
        }

        /**
         * The verdict of the database.
         *
         * @param name the database's name of it; a repetition is recorded in the key
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

        /** The digest that distinguishes commands under one key, 32 bytes. */
        public byte[] fingerprint() {
            return Sha256.of(wish);
        }
    }

    /**
     * A completed command.
     *
     * @param subject the id of its result
     * @param fresh further facts of a new result; null when the command was done before
     */
    public record Done<T>(UUID subject, @Nullable T fresh) {}

    /**
     * Runs {@code work} in a transaction unless the key was used before. Concurrent calls with one key wait for each other.
     *
     * @param work does the command; may run more than once, of which one commits
     * @return the result of {@code work}, or for a used key the earlier subject with nothing fresh. Refused with IDEMPOTENCY_KEY_REUSED, or
     *     as {@code work} fails
     */
    public <T> Future<Done<T>> once(Scope scope, Function<SqlConnection, Future<Done<T>>> work) {
        return Transactions.run(pool, tx -> {
            // Both are sent at once. The lock's error counts: the select then only reports the aborted transaction.
            var locked = tx.preparedQuery(
                            "select pg_advisory_xact_lock(hashtextextended(concat_ws(' ', $1::text, $2::text, $3::text), 0))")
                    .execute(scope.place());
            var used = before(tx, scope);
            return locked.compose(done -> used)
                    .compose(subject -> subject == null
                            ? work.apply(tx).compose(done -> remember(tx, scope, done))
                            : Future.succeededFuture(new Done<>(subject, null)));
        });
    }

    private static <T> Future<Done<T>> remember(SqlConnection tx, Scope scope, Done<T> done) {
        return tx.preparedQuery(REMEMBER)
                .execute(scope.place()
                        .addBuffer(Buffer.buffer(scope.fingerprint()))
                        .addUUID(done.subject))
                .map(done);
    }

    /**
     * The earlier result of a command, for a refusal before the command is tried. A repetition gets the first answer, even if the caller
     * has lost the right since.
     *
     * @return null for an unused key; refused with IDEMPOTENCY_KEY_REUSED when the key belongs to another command
     */
    public static Future<@Nullable UUID> before(SqlClient client, Scope scope) {
        return client.preparedQuery(BEFORE).execute(scope.place()).compose(rows -> {
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
