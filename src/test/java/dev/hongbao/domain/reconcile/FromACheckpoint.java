package dev.hongbao.domain.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Holds a run from a checkpoint to the run that reads everything, within a transaction on forged books. */
final class FromACheckpoint {
    private FromACheckpoint() {}

    /** Of what is all new, each check that is made from a checkpoint finds something where it does when everything is read. */
    static void assertSame(Statement statement, List<Check> checks, String forgery) throws SQLException {
        Set<String> whole = new TreeSet<>();
        for (Check check : checks) {
            if (check.scope().isRead() && isFound(statement, check.sql())) {
                whole.add(check.name());
            }
        }
        for (String sql : Touched.statements(0, Long.MAX_VALUE, true)) {
            statement.execute(sql);
        }
        Set<String> since = new TreeSet<>();
        for (Check check : checks) {
            if (check.scope().isRead() && isFound(statement, check.sinceSql())) {
                since.add(check.name());
            }
        }
        assertThat(since).as(forgery).isEqualTo(whole);
    }

    private static boolean isFound(Statement statement, String sql) throws SQLException {
        try (ResultSet lines = statement.executeQuery(sql)) {
            return lines.next();
        }
    }
}
