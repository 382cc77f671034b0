package dev.hongbao.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.doctor.Check.Diagnosis;
import dev.hongbao.store.embedded.EmbeddedRedis;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What the doctor asks when one store is the server's own, and what of a Postgres it may see. */
@ExtendWith(Servers.class)
class DoctorIT {
    @TempDir
    private Path data;

    @Test
    void eachStoreIsAskedForItselfAndNoneIsStarted(TestServers servers) throws Exception {
        TestEngine.start(servers, 1, Map.of()).close();
        HongbaoConfig config = HongbaoConfig.of(Map.of(
                "data.dir", data.toString(),
                "management.port", "1",
                "postgres.url", servers.postgresAppUrl(),
                "postgres.owner-url", servers.postgresOwnerUrl()));

        // Given a server whose Redis is its own
        try (EmbeddedRedis redis =
                EmbeddedRedis.start(data, EmbeddedOptions.defaults().withBinaries(TestServers.BINARIES))) {
            // Then both are asked, and the disk is looked at
            assertThat(examine(config))
                    .anyMatch(line -> line.startsWith("Redis 7"))
                    .anyMatch(line -> line.startsWith("Postgres "))
                    .anyMatch(line -> line.startsWith("The disk of the data directory"))
                    .noneMatch(line -> line.contains("not asked"));
        }

        // When the server has ended, and left its port behind
        Path log = data.resolve("logs").resolve("redis.log");
        String before = Files.readString(log);
        List<String> ended = examine(config);

        // Then its Redis is not started
        assertThat(ended)
                .contains("Its own Redis is not asked: it runs while the server does")
                .anyMatch(line -> line.startsWith("Postgres "));
        assertThat(Files.readString(log)).isEqualTo(before);
    }

    private static HongbaoConfig configOf(TestServers servers) {
        return HongbaoConfig.of(Map.of(
                "management.port", "1",
                "redis.url", servers.redisUrl(),
                "postgres.url", servers.postgresAppUrl(),
                "postgres.owner-url", servers.postgresOwnerUrl()));
    }

    @Test
    void whatTheRoleMayNotSeeIsToldAndNotCalledWell(@Killable TestServers servers) throws Exception {
        TestEngine.start(servers, 1, Map.of()).close();
        HongbaoConfig config = configOf(servers);

        // Given sessions of another role, one with a transaction under way, as a colleague at a console has
        List<Connection> others = new ArrayList<>();
        try {
            for (int i = 0; i < 5; i++) {
                others.add(TestDatabase.connect(servers.postgresOwnerUrl()));
            }
            others.get(0).setAutoCommit(false);
            run(others.get(0), "select 1");

            // Then the application's role counts their connections, and says that it does not see what they do
            List<String> blind = examine(config);
            assertThat(blind)
                    .anyMatch(line -> line.contains("grant pg_read_all_stats to hongbao"))
                    .anyMatch(line -> line.startsWith("Postgres ")
                            && line.contains("longest transaction of its own role 0 s")
                            && connections(line) > others.size());

            // When it may see that
            try (Connection admin = TestDatabase.connect(servers.postgres().adminUrl())) {
                run(admin, "grant pg_read_all_stats to hongbao");
            }

            // Then it does
            Eventually.eventually(
                    Duration.ofSeconds(20),
                    () -> assertThat(examine(config))
                            .noneMatch(line -> line.contains("pg_read_all_stats"))
                            .anyMatch(line -> line.matches("Postgres .*, longest transaction [1-9][0-9]* s")));
        } finally {
            for (Connection other : others) {
                other.close();
            }
            // The servers are kept for the next run.
            try (Connection admin = TestDatabase.connect(servers.postgres().adminUrl())) {
                run(admin, "revoke pg_read_all_stats from hongbao");
            }
        }
    }

    @Test
    void aPostgresThatTakesNoWritesIsToldAsSuch() throws Exception {
        try (TestServers servers = Servers.fresh();
                Connection owner = TestDatabase.connect(servers.postgresOwnerUrl())) {
            // Given
            run(owner, "alter database " + owner.getCatalog() + " set default_transaction_read_only = on");

            // When
            List<String> found = examine(configOf(servers));

            // Then
            assertThat(found)
                    .anyMatch(line -> line.matches("Postgres does not answer: .*it takes no writes, as a standby"));
        }
    }

    @Test
    void deadRowsAndOldTransactionsAreFoundBesideHarmlessOnes() throws Exception {
        try (TestServers servers = Servers.fresh();
                Connection owner = TestDatabase.connect(servers.postgresOwnerUrl())) {
            TestEngine.start(servers, 1, Map.of()).close();
            HongbaoConfig config = configOf(servers);

            // Given statistics of hours: a large table, a small one that nobody vacuums, and a worker that vacuums
            run(owner, """
                    create schema hours;
                    create table hours.pg_stat_user_tables (relname name, n_dead_tup bigint, n_live_tup bigint);
                    insert into hours.pg_stat_user_tables values ('large', 9000000, 90000000), ('small', 2000000, 9);
                    create table hours.pg_stat_activity as select * from pg_stat_activity where pid = pg_backend_pid();
                    update hours.pg_stat_activity set pid = 0, state = 'active', xact_start = now() - interval '2 hours',
                        backend_type = 'autovacuum worker';
                    grant usage on schema hours to public;
                    grant select on all tables in schema hours to public;
                    alter database %s set search_path = hours, pg_catalog, public
                    """.formatted(owner.getCatalog()));

            // Then
            assertThat(examine(config))
                    .contains("Table small has 2000000 dead rows and 9 live ones")
                    .noneMatch(line -> line.contains("is under way"));

            // When the transaction is a client's
            run(owner, "update hours.pg_stat_activity set backend_type = 'client backend'");

            // Then
            assertThat(examine(config))
                    .anyMatch(line -> line.matches("A transaction of Postgres is under way for 72.. s"));
        }
    }

    private static void run(Connection connection, String sql) throws Exception {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static int connections(String line) {
        return Integer.parseInt(line.replaceFirst(".*connections ([0-9]+) of .*", "$1"));
    }

    private static List<String> examine(HongbaoConfig config) {
        return Doctor.examine(config).stream().map(Diagnosis::text).toList();
    }
}
