package dev.hongbao.store.postgres;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.Pool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith({Servers.class, VertxExtension.class})
class MigrationsIT {
    private static final Path SCRIPTS = Path.of("src/main/resources/db/migration");
    private static final String NEWER = "select obj_description('transfers_under_way()'::regprocedure, 'pg_proc')";
    private static final String WAITING = "select count(*) from pg_locks where locktype = 'advisory' and not granted"
            + " and database = (select oid from pg_database where datname = current_database())";
    private static final String STEPS = "select count(*)::text from flyway_schema_history";
    private static final String NOTE = "select obj_description('flyway_schema_history'::regclass, 'pg_class')";

    /** What they noted, so that the next one finds a database of this version. */
    @AfterEach
    void forget(TestServers servers) throws Exception {
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement()) {
            sql.execute("comment on table flyway_schema_history is null");
            sql.execute("delete from flyway_schema_history where installed_rank = 99999");
        }
    }

    @Test
    void whatIsDoneIsNotedAndAnythingElseAsksFlywayAgain(TestServers servers, Vertx vertx) throws Exception {
        Database database = new Database(servers, vertx);
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement()) {
            // Given
            database.migrate();
            String steps = one(sql, STEPS);
            String note = one(sql, NOTE);
            assertThat(note)
                    .matches("hongbao " + Migrations.VERSION + ", oldest 0\\.1\\.0: [0-9a-f]{64} for "
                            + database.app().user());

            // When it is run again, and then on what another build of this version left
            database.migrate();
            assertThat(one(sql, STEPS)).isEqualTo(steps);
            sql.execute("comment on table flyway_schema_history is '" + note.replace(": ", ": 0") + "'");
            sql.execute("delete from flyway_schema_history where description = '90 grants'");
            database.migrate();

            // Then
            assertThat(one(sql, STEPS)).isEqualTo(steps);
            assertThat(one(sql, NOTE)).isEqualTo(note);
        }
    }

    /** An older server may start while servers are upgraded, or after somebody went back. */
    @Test
    void anOlderVersionLeavesTheFunctionsOfANewerOneAsTheyAre(
            TestServers servers, Vertx vertx, @TempDir Path newerScripts) throws Exception {
        Database database = new Database(servers, vertx);
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement()) {
            // Given a newer version, of which one repeatable script is different
            database.migrate();
            newer(newerScripts);
            database.migrate(new Migrations.Schema("99.2.3", "0.1.0", "filesystem:" + newerScripts, "newer"));
            assertThat(one(sql, NEWER)).isEqualTo("newer");
            String steps = one(sql, STEPS);

            // When
            database.migrate();

            // Then
            assertThat(one(sql, NEWER)).isEqualTo("newer");
            assertThat(one(sql, STEPS)).isEqualTo(steps);
            assertThat(one(sql, NOTE)).startsWith("hongbao 99.2.3, oldest 0.1.0: newer for ");
        } finally {
            anew(database, servers);
        }
    }

    /** The older server has read the note before the newer one wrote it. */
    @Test
    void anOlderVersionThatWaitedForANewerOneLeavesItsFunctionsToo(
            TestServers servers, Vertx vertx, @TempDir Path newerScripts) throws Exception {
        Database database = new Database(servers, vertx);
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement()) {
            // Given a newer version at work, and an older one that has to migrate
            database.migrate();
            newer(newerScripts);
            sql.execute("comment on table flyway_schema_history is null");
            connection.setAutoCommit(false);
            sql.execute("select pg_advisory_xact_lock(hashtextextended('hongbao migrates', 0))");
            Future<Void> older = database.migration();
            eventually(
                    Duration.ofSeconds(10), () -> assertThat(one(sql, WAITING)).isEqualTo("1"));

            // When
            sql.execute("comment on table flyway_schema_history is 'hongbao 99.2.3, oldest 0.1.0: newer for x'");
            sql.execute("delete from flyway_schema_history where description = '90 grants'");
            connection.commit();
            get(older);

            // Then
            assertThat(one(sql, NOTE)).isEqualTo("hongbao 99.2.3, oldest 0.1.0: newer for x");
            connection.commit();
        } finally {
            anew(database, servers);
        }
    }

    private static void newer(Path folder) throws Exception {
        try (var files = Files.list(SCRIPTS)) {
            for (Path file : files.toList()) {
                Files.copy(file, folder.resolve(file.getFileName()));
            }
        }
        Files.writeString(
                folder.resolve("R__75_reconcile.sql"),
                "\ncomment on function transfers_under_way() is 'newer';\n",
                StandardOpenOption.APPEND);
    }

    private static void anew(Database database, TestServers servers) throws Exception {
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement()) {
            sql.execute("comment on function transfers_under_way() is null");
            sql.execute("comment on table flyway_schema_history is null");
        }
        database.migrate();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        hongbao 99.2.3, oldest 99.1.0: 0 | of version 99.2.3, which supports servers from version 99.1.0 on; this is version
        of another day                   | of a newer version: it has migration 99999; this is version
        """)
    void aDatabaseThatIsNewerThanThatIsRefused(String note, String why, TestServers servers, Vertx vertx)
            throws Exception {
        Database database = new Database(servers, vertx);
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement()) {
            // Given
            database.migrate();
            sql.execute("comment on table flyway_schema_history is '" + note + "'");
            sql.execute("insert into flyway_schema_history select 99999, '99999', 'later', type, script, checksum,"
                    + " installed_by, now(), 1, true from flyway_schema_history where version = '1'");
            String steps = one(sql, STEPS);

            // When, then
            assertThatThrownBy(database::migrate)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(why)
                    .hasMessageEndingWith("Start a newer version, or restore a backup from before the upgrade");
            assertThat(one(sql, STEPS)).isEqualTo(steps);
            assertThat(one(sql, NOTE)).isEqualTo(note);
        }
    }

    @Test
    void aDatabaseOfACandidateIsRefused(TestServers servers, Vertx vertx) throws Exception {
        Database database = new Database(servers, vertx);
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement()) {
            // Given
            database.migrate();
            sql.execute("comment on table flyway_schema_history is 'hongbao 0.1.0 after none: V1__ledger.sql 1 for x'");
            sql.execute("update flyway_schema_history set script = 'V1__ledger.sql' where version = '1'");

            // When, then
            try {
                assertThatThrownBy(database::migrate)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("The database is of a release candidate of version 0.1.0")
                        .hasMessageContaining("Start with an empty database");
            } finally {
                sql.execute("update flyway_schema_history set script = 'V1__tables.sql' where version = '1'");
            }
        }
    }

    @Test
    void aDatabaseOfAnotherProgramIsLeftAloneWithAdviceOfOurs(TestServers servers, Vertx vertx) throws Exception {
        Database database = new Database(servers, vertx);
        database.migrate();
        String owner = "\"" + database.owner().user() + "\"";
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement()) {
            // Given tables of another program where ours would be
            sql.execute("comment on table flyway_schema_history is null");
            sql.execute("create schema other_program");
            sql.execute("create table other_program.orders (id integer)");
            sql.execute("alter role " + owner + " set search_path = other_program");

            // When, then
            try {
                assertThatThrownBy(database::migrate)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessage("The database holds objects of another program, such as the table orders."
                                + " Give Hongbao a database of its own: CREATE DATABASE hongbao");
            } finally {
                sql.execute("alter role " + owner + " reset search_path");
                sql.execute("drop schema other_program cascade");
            }
        }
    }

    /** A function that works with its owner's rights serves the server's role and nobody else, and finds nothing but the server's tables. */
    @Test
    void whatWorksWithItsOwnersRightsIsForTheServerAlone(TestServers servers) throws Exception {
        String app = PostgresAddress.of(servers.postgresAppUrl()).user();
        String owner = PostgresAddress.of(servers.postgresOwnerUrl()).user();
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement();
                ResultSet rows = sql.executeQuery("""
                    select p.oid::regprocedure::text,
                           (select split_part(s, '=', 2) from unnest(p.proconfig) as s where s like 'search_path=%'),
                           (select string_agg(g.grantee, ' ' order by g.grantee)
                            from (select coalesce(nullif(a.grantee, 0)::regrole::text, 'public') as grantee
                                  from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a) as g)
                    from pg_proc as p
                    where p.prosecdef and p.pronamespace = 'public'::regnamespace
                    """)) {
            Map<String, String> found = new TreeMap<>();
            while (rows.next()) {
                found.put(rows.getString(1), rows.getString(2) + " | " + rows.getString(3));
            }
            String path = "pg_catalog, public, pg_temp | ";
            assertThat(found)
                    .isEqualTo(new TreeMap<>(Map.ofEntries(
                            entry("transfer_moves_balances()", path + owner),
                            entry("plays_are_issued()", path + owner),
                            entry("audit_log_keeps_a_year()", path + owner),
                            entry("lock_accounts(bigint[])", path + app + " " + owner),
                            entry("held_accounts(bigint[])", path + app + " " + owner),
                            entry(
                                    "hold_plays(uuid[],uuid[],text[],smallint[],uuid[],bigint[],bigint[],bigint[])",
                                    path + app + " " + owner),
                            entry("feeds_begin_anew()", path + app + " " + owner),
                            entry("end_pools(uuid[],integer)", path + app + " " + owner),
                            entry("make_month(text,date)", "public, pg_temp | " + app + " " + owner),
                            entry("analyze_month_tables()", "public, pg_temp | " + app + " " + owner),
                            entry("transfers_begun()", path + app + " " + owner),
                            entry("summarize_transfers()", path + app + " " + owner))));
        }
    }

    /** A database, and a server that starts on it. */
    private record Database(PostgresAddress owner, PostgresAddress app, Pool asked, Vertx vertx) {
        Database(TestServers servers, Vertx vertx) {
            this(
                    PostgresAddress.of(servers.postgresOwnerUrl()),
                    PostgresAddress.of(servers.postgresAppUrl()),
                    PgBuilder.pool()
                            .connectingTo(
                                    PostgresAddress.of(servers.postgresAppUrl()).connectOptions())
                            .using(vertx)
                            .build(),
                    vertx);
        }

        void migrate() {
            get(migration());
        }

        Future<Void> migration() {
            return Migrations.run(vertx, asked, owner, app);
        }

        void migrate(Migrations.Schema schema) {
            get(Migrations.run(vertx, asked, owner, app, schema));
        }
    }

    private static String one(Statement sql, String query) throws Exception {
        try (ResultSet rows = sql.executeQuery(query)) {
            rows.next();
            return rows.getString(1);
        }
    }
}
