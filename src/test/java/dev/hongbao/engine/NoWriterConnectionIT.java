package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Postgres has no connection left for one server's settlements, and the one that holds its shards is well. */
@ExtendWith(Servers.class)
class NoWriterConnectionIT {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Map<String, String> OPTIONS = Map.of("shards", "2", "claim.settle-timeout", "20s");
    private static final String OWNERS =
            "(select pid from pg_locks where locktype = 'advisory' and objsubid = 2 and classid = 26722)";

    private static long owners(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("select count(distinct pid) from " + OWNERS + " as owner")) {
            row.next();
            return row.getLong(1);
        }
    }

    @Test
    void aServerThatCannotSettleGivesItsShardsToOneThatCan(TestServers servers) throws SQLException {
        Books books = new Books(servers);
        String database = books.strings("select current_database()").get(0);
        try (TestEngine poor = TestEngine.start(servers, 1, OPTIONS)) {
            poor.deposit("alice", 10_000);
            String poors = String.join(
                    ",",
                    books.strings("select pid from pg_stat_activity where datname = '" + database + "'"
                            + " and pid <> pg_backend_pid() and pid not in " + OWNERS));
            try (TestEngine rich = TestEngine.start(servers, 1, OPTIONS);
                    Connection asOwner = TestDatabase.connect(servers.postgresOwnerUrl());
                    Statement owner = asOwner.createStatement();
                    Connection asApp = TestDatabase.connect(servers.postgresAppUrl());
                    Statement app = asApp.createStatement()) {
                // Given two servers that own a shard each, and packets of both
                eventually(SOON, () -> assertThat(owners(owner)).isEqualTo(2));
                Packet first = rich.send("alice", 1000, 100);
                Packet second = rich.send("alice", 1000, 100);
                while (second.shard() == first.shard()) {
                    second = rich.send("alice", 1000, 100);
                }
                assertThat(rich.claim(first, "bob").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(rich.claim(second, "bob").kind()).isEqualTo(Kind.CLAIMED);

                // When all connections of one but its locks' end, and it gets no more
                owner.execute("alter database \"" + database + "\" connection limit 1");
                app.execute("select pg_terminate_backend(pid) from unnest(array[" + poors + "]) as pid");

                // Then the other settles the claims of all shards
                assertThat(rich.claim(first, "carol").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(rich.claim(second, "carol").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(owners(owner)).isOne();

                // When there are connections again, Then it is back, and the shards' owner settles its claims
                owner.execute("alter database \"" + database + "\" connection limit -1");
                eventually(
                        SOON,
                        () -> assertThat(rich.metrics()
                                        .get("hongbao.server.members")
                                        .gauge()
                                        .value())
                                .isEqualTo(2));
                assertThat(poor.claim(first, "dave").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(poor.claim(second, "dave").kind()).isEqualTo(Kind.CLAIMED);
                books.assertClean();
            }
        }
    }
}
