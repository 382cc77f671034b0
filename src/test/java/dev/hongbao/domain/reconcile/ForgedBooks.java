package dev.hongbao.domain.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import java.sql.Connection;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Books that the rules would not have let anybody write, as the audit reads them; they are never committed. */
final class ForgedBooks {
    private final TestServers servers;
    private final List<String> withoutRules;

    /** @param withoutRules what takes away the rules that the forgeries break */
    ForgedBooks(TestServers servers, List<String> withoutRules) {
        this.servers = servers;
        this.withoutRules = withoutRules;
    }

    /** Writes a forgery, which must change something. @return the names of the checks that find it */
    Set<String> found(String forgery, List<Check> checks) throws Exception {
        try (Connection owner = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            for (String rule : withoutRules) {
                statement.execute(rule);
            }
            assertThat(statement.executeUpdate(forgery)).as(forgery).isPositive();
            Set<String> found = new HashSet<>();
            for (Check check : checks) {
                if (statement.executeQuery(check.sql()).next()) {
                    found.add(check.name());
                }
            }
            owner.rollback();
            return found;
        }
    }
}
