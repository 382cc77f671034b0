package dev.hongbao.domain.reconcile;

import dev.hongbao.domain.fairness.DrawSeed;
import dev.hongbao.domain.odds.DefinitionReader;
import io.vertx.core.Future;
import io.vertx.sqlclient.Cursor;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Holds every draw against what it was committed to. One instance a run. */
final class DrawSeedAudit {
    private static final int PAGE = 100;

    private static final String DRAWS = "select d.id, d.seed, encode(d.commitment, 'hex') as commitment, d.definition,"
            + " exists (select from quarantine_unit as q where q.id = d.id) as set_aside from draw as d order by d.id";

    private final List<String> lines = new ArrayList<>();

    /** @param connection in a transaction */
    Future<Finding> run(SqlConnection connection) {
        return connection
                .prepare(DRAWS)
                .compose(statement -> {
                    Cursor cursor = statement.cursor(Tuple.tuple());
                    return pages(cursor).eventually(cursor::close).eventually(statement::close);
                })
                .map(read -> new Finding(
                        "I2",
                        "the seed and the definition of every draw give its commitment",
                        Severity.VIOLATION,
                        lines.stream().limit(Reconciliation.MAX_LINES).toList()));
    }

    private Future<Void> pages(Cursor cursor) {
        return cursor.read(PAGE).compose(page -> {
            look(page);
            return cursor.hasMore() ? pages(cursor) : Future.succeededFuture();
        });
    }

    private void look(RowSet<Row> page) {
        for (Row row : page) {
            String fault = fault(row);
            if (fault != null) {
                lines.add("draw " + row.getUUID("id") + ": " + fault);
            }
        }
    }

    private static @Nullable String fault(Row row) {
        UUID id = row.getUUID("id");
        String digest;
        try {
            digest = new DrawSeed(row.getBuffer("seed").getBytes())
                    .commitment(
                            id,
                            DefinitionReader.readStored(
                                    row.getJsonObject("definition").getMap()));
        } catch (RuntimeException unreadable) {
            if (row.getBoolean("set_aside")) {
                return null; // known, and told by the check of what is set aside
            }
            return "its definition cannot be read: " + unreadable.getMessage();
        }
        String told = row.getString("commitment");
        return digest.equals(told) ? null : "it is committed to " + told + ", its seed and definition give " + digest;
    }
}
