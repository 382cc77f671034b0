package dev.hongbao.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Holds a run from a checkpoint to the run that reads everything, within a transaction on forged books. */
final class FromACheckpoint {
    private static final String FIRST = "'00000000-0000-0000-0000-000000000000'::uuid";

    private FromACheckpoint() {}

    /**
     * Of what is all new, each check that is made from a checkpoint finds something where it does when everything is read.
     *
     * @param found those that find something when everything is read
     */
    static void assertSame(Statement statement, List<Check> checks, Set<Check> found, String forgery)
            throws SQLException {
        Set<String> whole = found.stream()
                .filter(check -> check.scope().isRead())
                .map(Check::name)
                .collect(Collectors.toCollection(TreeSet::new));
        statement.execute(
                "update checkpoint set summed = 0; delete from checkpoint_balance; delete from checkpoint_due");
        statement.execute(with(Checkpoint.ADD, "0", Long.toString(Long.MAX_VALUE)));
        for (String table : List.of("draw", "campaign")) {
            statement.execute(with(Checkpoint.CHANGED.formatted(table), FIRST, "1000"));
        }
        Map<Scope, String> pages = new EnumMap<>(Map.of(Scope.TRANSFERS, "0", Scope.WHOLE, ""));
        pages.put(Scope.ACCOUNTS, "array(select account from checkpoint_balance)");
        for (Scope scope : List.of(Scope.PACKETS, Scope.DRAWS, Scope.CAMPAIGNS)) {
            List<String> ids = strings(
                    statement,
                    "select id from (" + with(Checkpoint.DUE, FIRST, "1000", "1000000") + ") as page where scope = '"
                            + scope + "'");
            pages.put(scope, "'{" + String.join(",", ids) + "}'::uuid[]");
        }
        pages.put(Scope.REVERSALS, pages.get(Scope.PACKETS));
        Set<String> since = new TreeSet<>();
        for (Scope scope : pages.keySet()) {
            List<Check> these =
                    checks.stream().filter(check -> check.scope() == scope).toList();
            if (!these.isEmpty()) {
                strings(statement, with(scope.over(these), pages.get(scope), Long.toString(Long.MAX_VALUE)))
                        .forEach(which ->
                                since.add(these.get(Integer.parseInt(which)).name()));
            }
        }
        assertThat(since).as(forgery).isEqualTo(whole);
    }

    /** A statement with its parameters written out. */
    private static String with(String sql, String... parameters) {
        String written = sql;
        for (int i = 0; i < parameters.length; i++) {
            written = written.replace("$" + (i + 1), "(" + parameters[i] + ")");
        }
        return written;
    }

    private static List<String> strings(Statement statement, String sql) throws SQLException {
        List<String> found = new ArrayList<>();
        try (ResultSet lines = statement.executeQuery(sql)) {
            while (lines.next()) {
                found.add(lines.getString(1));
            }
        }
        return found;
    }
}
