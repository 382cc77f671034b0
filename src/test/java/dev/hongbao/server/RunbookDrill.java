package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.cli.Typed;
import dev.hongbao.testing.AlertRules;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Exposition;
import dev.hongbao.testing.GuideCommands;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServerClient;
import java.net.URI;
import java.net.http.HttpRequest;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Drills of alerts: each is provoked, its rule is seen to hold on what the server says, the runbook's page is followed, and it clears. For
 * how long a rule has to hold is promtool's to test ({@code alerts*_test.yml}), and that Prometheus reads it as we do {@code PrometheusIT}'s.
 */
abstract class RunbookDrill extends TestServerClient {
    static final Duration SOON = Duration.ofSeconds(30);

    private static final AlertRules RULES = new AlertRules();

    static Books books() {
        return new Books(servers);
    }

    /** Waits until the rule of an alert holds that looks at a moment. */
    static void fires(String alert) {
        fires(alert, management());
    }

    /** As above, of another server. @param management its address */
    static void fires(String alert, URI management) {
        await(alert, management, true);
    }

    /** Waits until it holds no more. */
    static void clears(String alert) {
        clears(alert, management());
    }

    /** As above, of another server. @param management its address */
    static void clears(String alert, URI management) {
        await(alert, management, false);
    }

    private static void await(String alert, URI management, boolean holds) {
        Eventually.eventually(SOON, () -> {
            Exposition now = scrape(management);
            assertThat(RULES.holds(alert, now, now)).as(alert).isEqualTo(holds);
        });
    }

    /** Waits until a rule holds that looks back, from now to an earlier scrape. */
    static void fires(String alert, Exposition before) {
        Eventually.eventually(
                SOON,
                () -> assertThat(RULES.holds(alert, before, scrape())).as(alert).isTrue());
    }

    /** Once what a rule looks back on begins after the fault, it holds no more. @param after a scrape from after the fault */
    static void clears(String alert, Exposition after) {
        assertThat(RULES.holds(alert, after, scrape())).as(alert).isFalse();
    }

    static Exposition scrape() {
        return scrape(management());
    }

    /** After a round of the checks, as a load balancer asks for it; without one the server makes one every 5 s. */
    private static Exposition scrape(URI management) {
        try {
            send(HttpRequest.newBuilder(management.resolve("/health/ready")));
        } catch (Exception away) {
            // which is what is looked at
        }
        return Exposition.kept(management);
    }

    private static URI management() {
        return URI.create(managed("/"));
    }

    /** What the runbook begins with. @param section that it has to name */
    static void doctorNames(String section) {
        doctorNames(section, management());
    }

    /** As above, of another server. @param management its address */
    static void doctorNames(String section, URI management) {
        assertThat(doctor(management)).contains("#" + section);
    }

    /** What the runbook need not be asked for. @param section that the doctor must not name */
    static void doctorNamesNot(String section) {
        assertThat(doctor(management())).doesNotContain("#" + section);
    }

    private static String doctor(URI management) {
        return Typed.on(servers, "doctor", "--management-port", Integer.toString(management.getPort()))
                .out();
    }

    /** A command of the runbook, as an operator types it. @return what it printed, when it ended with 0 */
    static String typed(String... command) {
        Typed typed = Typed.on(servers, command);
        assertThat(typed.exit()).as(typed.out() + typed.err()).isZero();
        return typed.out();
    }

    /** Finds with the first command of a section the session that is in the way, and ends it with the second. */
    static void endTheSessionThatIsFound(String section) {
        String pid = books().strings(
                        GuideCommands.of("runbook").statements(section).get(0))
                .get(0);
        String ends = GuideCommands.of("runbook")
                .where("PID", pid)
                .statements(section)
                .get(1);
        assertThat(books().strings(ends)).containsExactly("t");
    }

    /** Takes an advisory lock from the server that holds it, as a session has it whose server froze. */
    static void takeLock(Connection foreign, int kind, int number) throws SQLException {
        String lock = "locktype = 'advisory' and classid = " + kind + " and objid = " + number;
        CompletableFuture<Boolean> locked = CompletableFuture.supplyAsync(() -> {
            try (Statement sql = foreign.createStatement()) {
                return sql.execute("select pg_advisory_lock(" + kind + ", " + number + ")");
            } catch (SQLException fault) {
                throw new IllegalStateException(fault);
            }
        });
        try (Connection hand = TestDatabase.connect(servers.postgresAppUrl());
                Statement ends = hand.createStatement()) {
            Eventually.eventually(SOON, () -> {
                ends.execute("select pg_terminate_backend(pid) from pg_locks where " + lock
                        + " and granted and pid <> pg_backend_pid()"
                        + " and exists (select from pg_locks where not granted and " + lock + ")");
                assertThat(locked.isDone()).isTrue();
            });
        }
    }
}
