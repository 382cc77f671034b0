package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import java.sql.Connection;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What an operator reads at night. */
@ExtendWith(Servers.class)
class DoctorCommandIT {
    @Test
    void itTellsTheWorstFirstAndWhatIsWell(TestServers servers) throws Exception {
        String port;
        try (TestServer server = TestServer.start(servers, Map.of("shards", "4"))) {
            port = Integer.toString(server.management().getPort());

            // Given a server that is well, on a database of today
            Typed well = Typed.on(servers, "doctor", "--management-port", port);

            // Then
            assertThat(well.exit()).as(well.out() + well.err()).isZero();
            assertThat(well.out())
                    .contains("The server is ready", "Redis ", "Postgres ", "no replica")
                    .doesNotContain("bad ", "was clean yet");

            // When it is asked with another namespace than the server's, Then
            assertThat(Typed.on(servers, "doctor", "--management-port", port, "--redis-namespace", "other")
                            .out())
                    .contains("bad ", "work in another Redis, or under another namespace");

            // When the books were checked
            Typed checked = Typed.on(servers, "reconcile", "--since-checkpoint");

            // Then
            assertThat(checked.exit()).as(checked.out() + checked.err()).isZero();
            assertThat(checked.out())
                    .contains(
                            "ok    I4  every changed balance",
                            "left  I4  all balances of an asset",
                            "no violation; from transfer 0 to");
            assertThat(Typed.on(servers, "doctor", "--management-port", port).out())
                    .contains("The latest check of what is new in the books, 0 h ago, found no violation")
                    .doesNotContain("was clean yet");

            // When something waits for an operator
            try (Connection hand = TestDatabase.connect(servers.postgresOwnerUrl());
                    Statement statement = hand.createStatement()) {
                statement.execute("insert into quarantine_unit (id, kind, shard, sqlstate, reason)"
                        + " values ('00000000-0000-7000-8000-00000000dead', 'packet', 1, '22003', 'a test')");
            }
            Typed aside = Typed.on(servers, "doctor", "--management-port", port);

            // Then it is told, and can wait
            assertThat(aside.exit()).isZero();
            assertThat(aside.out()).contains("1 packets, draws or campaigns are set aside", "#something-is-set-aside");
        }

        // When the server has ended
        Typed ended = Typed.on(servers, "doctor", "--management-port", port);

        // Then that is the first thing
        assertThat(ended.exit()).isEqualTo(1);
        assertThat(ended.out())
                .startsWith("First: The server does not answer")
                .contains("4 shards have no owner", "Redis ", "Postgres ");
    }
}
