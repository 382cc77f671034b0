package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.cli.Typed;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.GuideCommands;
import dev.hongbao.testing.RefusingServer;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The drills of the books, and of a server that ends. */
@ExtendWith(Servers.class)
class RunbookBooksDrillIT extends RunbookDrill {
    private static final Map<String, String> OPTIONS =
            Map.of("shards", "4", "reconcile.every", "1s", "claim.settle-timeout", "20s");

    @BeforeAll
    static void serve(TestServers given) {
        serve(given, OPTIONS);
    }

    @Test
    void theBooksBreakARule() throws Exception {
        // Given
        deposit("carol", "CNY", 100);
        clears("HongbaoBooksBreakARule");

        // When somebody works in the database by hand, and the account moves after that
        String alter =
                "update account set balance = balance %s 1 where kind = 'wallet' and owner = '" + name("carol") + "'";
        books().execute(alter.formatted("+"));
        deposit("carol", "CNY", 5);
        fires("HongbaoBooksBreakARule");

        // Then the account is named
        Typed all = Typed.on(servers, "reconcile");
        assertThat(all.exit()).as(all.err()).isEqualTo(1);
        assertThat(all.out()).contains("wallet of " + name("carol"));

        // When it is taken back, and each check is made again that found it: that of what is new by itself
        books().execute(alter.formatted("-"));
        assertThat(typed("reconcile")).contains("no violation");
        clears("HongbaoBooksBreakARule");
    }

    /** Nobody waits three days: by hand it is written that the latest check is that old. */
    @Test
    void theBooksAreNotCheckedWhichIsMadeToLookOld() throws Exception {
        // Given
        clears("HongbaoBooksUnchecked");
        try (Connection writer = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("lock table transfer in row exclusive mode"); // as who writes transfers

            // When: again, as a check was under way that ends after that
            double threeDays = Duration.ofDays(3).toSeconds();
            Eventually.eventually(SOON, () -> {
                books().execute(
                                "update reconcile_run set at = now() - interval '4 days', clean_at = now() - interval '4 days'");
                Eventually.eventually(
                        Duration.ofSeconds(5),
                        () -> assertThat(scrape().sum("hongbao_reconcile_clean_age_seconds", "\"new\""))
                                .isGreaterThan(threeDays));
            });
            fires("HongbaoBooksUnchecked");

            // When
            endTheSessionThatIsFound("Postgres needs attention");
        }

        // Then
        clears("HongbaoBooksUnchecked");
    }

    @Test
    void somethingIsSetAside() throws Exception {
        // Given a rule in Postgres that nobody foresaw
        clears("HongbaoSetAside");
        String packet = send("equal", 100, 2);
        try (RefusingServer rule =
                RefusingServer.rows(books(), "transfer", "new.subject = '" + packet + "' and new.slot = 0", "23514")) {
            // When
            assertProblem(claim("bob", packet), 503, "set-aside");
            fires("HongbaoSetAside");
            doctorNames("something-is-set-aside");

            // Then
            assertThat(typed("quarantine", "list")).contains("packet " + packet, "the test refuses it");
        }

        // When the cause is mended
        assertThat(typed("quarantine", "replay", packet)).contains("is back: 1 entries settled");

        // Then
        clears("HongbaoSetAside");
        eventually(() -> claim("bob", packet).statusCode() == 200);
    }

    @Test
    void aMonthHasNoPart() throws Exception {
        // Given
        clears("HongbaoMonthMissing");
        books().execute("drop table "
                + books().strings("select month_part('play', (date_trunc('month', now()) + interval '2 months')::date)")
                        .get(0));
        try (Connection reader = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = reader.createStatement()) {
            reader.setAutoCommit(false);
            statement.execute("select from play"); // for long

            // When a server tries, at its start or each hour
            try (TestServer server = TestServer.start(servers, OPTIONS)) {
                fires("HongbaoMonthMissing", server.management());
            }
            doctorNames("a-month-has-no-part");
            assertThat(books().strings(GuideCommands.of("runbook")
                            .statements("A month has no part")
                            .get(0)))
                    .containsExactly("play");

            // When
            endTheSessionThatIsFound("Postgres needs attention");
        }

        // Then the next try makes it
        try (TestServer server = TestServer.start(servers, OPTIONS)) {
            clears("HongbaoMonthMissing", server.management());
        }
        assertThat(books().strings("select parent from missing_months(now())")).isEmpty();
    }

    @Test
    void aServerDoesNotAnswer() {
        // Given
        TestServer server = TestServer.start(servers, OPTIONS);
        URI management = server.management();
        clears("HongbaoServerDown", management);

        // When
        server.close();
        fires("HongbaoServerDown", management);
        doctorNames("a-server-does-not-answer", management);

        // When it is started again
        Map<String, String> again = new HashMap<>(OPTIONS);
        again.put("management.port", Integer.toString(management.getPort()));
        try (TestServer started = TestServer.start(servers, again)) {
            clears("HongbaoServerDown", started.management());
        }
    }
}
