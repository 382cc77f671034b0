package dev.hongbao.domain.reconcile;

import dev.hongbao.domain.fairness.DrawSeed;
import dev.hongbao.domain.odds.DefinitionReader;
import dev.hongbao.engine.shard.RowPages;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Holds every draw against what it was committed to. Reads page by page, and computes on a worker. One instance a run. */
final class DrawSeedAudit {
    private static final String DRAWS = "select d.id, d.seed, encode(d.commitment, 'hex') as commitment, d.definition,"
            + " exists (select from quarantine_unit as q where q.id = d.id) as set_aside from draw as d order by d.id";

    private final Vertx vertx;
    private final List<String> lines = new ArrayList<>();

    DrawSeedAudit(Vertx vertx) {
        this.vertx = vertx;
    }

    /** @param connection in a transaction */
    Future<Finding> run(SqlConnection connection) {
        return RowPages.each(
                        connection,
                        DRAWS,
                        Tuple.tuple(),
                        page -> vertx.executeBlocking(() -> {
                            look(page);
                            return null;
                        }))
                .map(read -> new Finding(
                        "I2",
                        "the seed and the definition of every draw give its commitment",
                        Severity.VIOLATION,
                        lines));
    }

    private void look(RowSet<Row> page) {
        for (Row row : page) {
            String fault = lines.size() < Reconciliation.MAX_LINES ? fault(row) : null;
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
