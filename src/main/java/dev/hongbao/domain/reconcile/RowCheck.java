package dev.hongbao.domain.reconcile;

import dev.hongbao.engine.shard.RowPages;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Recomputes something of every row, where no query can. Reads page by page, and computes on a worker. One instance a run. */
final class RowCheck {
    private final Vertx vertx;
    private final String name;
    private final String sql;
    private final Function<Row, @Nullable String> fault;
    private final List<String> lines = new ArrayList<>();

    /**
     * @param name of the rule, for {@link Finding}
     * @param sql selects the rows
     * @param fault gives a row's violation as a line; null for none
     */
    RowCheck(Vertx vertx, String name, String sql, Function<Row, @Nullable String> fault) {
        this.vertx = vertx;
        this.name = name;
        this.sql = sql;
        this.fault = fault;
    }

    /** A copy for a run from the checkpoint. */
    RowCheck over(Scope scope) {
        return new RowCheck(vertx, name, scope.over(sql), fault);
    }

    /**
     * @param connection in a transaction
     * @param parameters of the query
     */
    Future<Finding> run(SqlConnection connection, Tuple parameters) {
        return RowPages.each(
                        connection,
                        sql,
                        parameters,
                        page -> vertx.executeBlocking(() -> {
                            look(page);
                            return null;
                        }))
                .map(read -> found());
    }

    /** The finding so far. */
    Finding found() {
        return new Finding("I2", name, Severity.VIOLATION, lines);
    }

    private void look(RowSet<Row> page) {
        for (Row row : page) {
            String line = lines.size() < Reconciliation.MAX_LINES ? fault.apply(row) : null;
            if (line != null) {
                lines.add(line);
            }
        }
    }
}
