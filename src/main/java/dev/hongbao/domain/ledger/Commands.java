package dev.hongbao.domain.ledger;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.UUID;

/** The rows of commands that are carried out by more than one statement. Sends, deposits and withdrawals write theirs with their money. */
public final class Commands {
    private static final String INSERT = "insert into command (id, operation, actor, role, key, reference, reason)"
            + " values ($1, $2, $3, $4, $5, $6, $7)";

    private Commands() {}

    /**
     * Says whether a reference names one command from now on, for all servers of the database. What was named before stays; a name that is
     * used is used.
     */
    public static Future<Void> haveUniqueReferences(SqlClient pool, boolean unique) {
        return pool.preparedQuery("update installation set unique_references = $1 where unique_references <> $1")
                .execute(Tuple.of(unique))
                .mapEmpty();
    }

    /**
     * Notes who asked, in the transaction that moves the money and before it does.
     *
     * @param id the subject of its transfers
     * @return refused with REFERENCE_USED
     */
    public static Future<Void> insert(SqlClient tx, UUID id, Idempotency.Scope scope) {
        Origin origin = scope.origin();
        return tx.preparedQuery(INSERT)
                .execute(Tuple.of(
                        id,
                        scope.operation(),
                        origin.actor().value(),
                        origin.by().wireName(),
                        scope.key().value(),
                        origin.note().reference(),
                        origin.note().reason()))
                .<Void>mapEmpty()
                .recover(fault -> Future.failedFuture(Ledger.refusal(fault)));
    }
}
