package dev.hongbao.engine.postgres;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.common.values.Release;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.Pool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith({Servers.class, VertxExtension.class})
class MigrationsIT {
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
    void everyScriptOfTheFolderIsKnown() throws Exception {
        try (var files = Files.list(Path.of("src/main/resources/db/migration"))) {
            List<String> names =
                    files.map(file -> file.getFileName().toString()).toList();

            assertThat(Migrations.SCRIPTS).containsExactlyInAnyOrderElementsOf(names);
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
                    .startsWith("hongbao " + Release.THIS.version() + " after " + Release.THIS.previous()
                            + ": V1__ledger.sql ")
                    .endsWith(" for " + database.app().login().user());

            // When it is run again, and then on what another version left
            database.migrate();
            assertThat(one(sql, STEPS)).isEqualTo(steps);
            sql.execute("comment on table flyway_schema_history is 'hongbao of another day'");
            sql.execute("delete from flyway_schema_history where version is null"); // the grants
            database.migrate();

            // Then
            assertThat(one(sql, STEPS)).isEqualTo(steps);
            assertThat(one(sql, NOTE)).isEqualTo(note);
        }
    }

    /** While servers are upgraded, one of the version before may start again; and who goes back to it has the same database. */
    @Test
    void aDatabaseOfTheNextVersionIsLeftAsItIs(TestServers servers, Vertx vertx) throws Exception {
        Database database = new Database(servers, vertx);
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement()) {
            // Given what the next version has done
            database.migrate();
            String next = "hongbao 99.2.3 after " + Release.THIS.version() + ": V99__next.sql 1 for x";
            sql.execute("comment on table flyway_schema_history is '" + next + "'");
            sql.execute("delete from flyway_schema_history where version is null"); // the grants
            String steps = one(sql, STEPS);

            // When
            database.migrate();

            // Then its grants are not taken back
            assertThat(one(sql, STEPS)).isEqualTo(steps);
            assertThat(one(sql, NOTE)).isEqualTo(next);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    hongbao 99.2.3 after 99.1.0: V99 | of version 99.2.3, beside which version 99.1.0 may work, and none before it; this is version
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
            get(Migrations.run(vertx, asked, owner, app));
        }
    }

    private static String one(Statement sql, String query) throws Exception {
        try (ResultSet rows = sql.executeQuery(query)) {
            rows.next();
            return rows.getString(1);
        }
    }
}
