package dev.hongbao.domain.ledger;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.UUID;

/** Writes the rows of commands with several statements. Sends, deposits and withdrawals write theirs together with their money. */
public final class Commands {
    private static final String INSERT = "insert into command (id, operation, actor, role, key, reference, reason)"
            + " values ($1, $2, $3, $4, $5, $6, $7)";

    private Commands() {}

    /**
     * Sets whether a reference may name one command only, for all servers of the database. Earlier commands keep their references, and
     * these count as used.
     */
    public static Future<Void> haveUniqueReferences(SqlClient pool, boolean unique) {
        return pool.preparedQuery("update installation set unique_references = $1 where unique_references <> $1")
                .execute(Tuple.of(unique))
                .mapEmpty();
    }

    /**
     * Writes a command, in the transaction of its transfers and before them.
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
