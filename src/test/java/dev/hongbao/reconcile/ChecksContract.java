package dev.hongbao.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Some of the audit's checks: true books pass them, and each is seen failing on books that the rules would not have let anybody write.
 * Those are never committed.
 */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ChecksContract {
    private final List<Check> checks;
    private final List<String> withoutRules;
    private final Set<String> seen = new HashSet<>();
    private TestServers servers;

    /** @param withoutRules what takes away the rules that the forgeries break */
    ChecksContract(List<Check> checks, List<String> withoutRules) {
        this.checks = checks;
        this.withoutRules = withoutRules;
    }

    /** Does what the books are to tell of; once, before all tests. */
    abstract void writeBooks(TestEngine engine);

    @BeforeAll
    void someBooks(TestServers given) {
        servers = given;
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            writeBooks(engine);
        }
    }

    @AfterAll
    void everyCheckWasSeenFailing() {
        assertThat(seen).containsAll(checks.stream().map(ChecksContract::name).toList());
    }

    private static String name(Check check) {
        return check.invariant() + " " + check.name();
    }

    @Test
    void trueBooksAreClean() {
        assertThat(audit()).isEmpty();
    }

    TestServers servers() {
        return servers;
    }

    /** All findings of the whole audit. */
    List<String> audit() {
        return new Books(servers).audited();
    }

    /** Asserts that a check finds a forgery. @param rule a part of the check's invariant and name */
    void assertFound(String rule, String forgery) throws Exception {
        Set<String> found = found(forgery);
        assertThat(found).as(forgery).anyMatch(name -> name.contains(rule));
        seen.addAll(found);
    }

    /** Any check finds it. */
    void assertFound(String forgery) throws Exception {
        assertFound("", forgery);
    }

    /** The invariants and names of the checks that find a forgery. */
    Set<String> found(String forgery) throws Exception {
        Set<Check> found = new HashSet<>();
        TestDatabase.rolledBack(servers.postgresOwnerUrl(), statement -> {
            for (String rule : withoutRules) {
                statement.execute(rule);
            }
            statement.execute(forgery);
            for (Check check : checks) {
                if (statement.executeQuery(check.sql()).next()) {
                    found.add(check);
                }
            }
            FromACheckpoint.assertSame(statement, checks, found, forgery);
        });
        return found.stream().map(ChecksContract::name).collect(Collectors.toSet());
    }
}
