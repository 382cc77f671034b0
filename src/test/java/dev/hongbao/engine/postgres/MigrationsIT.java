package dev.hongbao.engine.postgres;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith({Servers.class, VertxExtension.class})
class MigrationsIT {
    private static final String STEPS = "select count(*)::text from flyway_schema_history";
    private static final String NOTE = "select obj_description('flyway_schema_history'::regclass, 'pg_class')";

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
        PostgresAddress owner = PostgresAddress.of(servers.postgresOwnerUrl());
        PostgresAddress app = PostgresAddress.of(servers.postgresAppUrl());
        Pool asked =
                PgBuilder.pool().connectingTo(app.connectOptions()).using(vertx).build();
        Runnable migrate = () -> get(Migrations.run(vertx, asked, owner, app));
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement()) {
            // Given
            migrate.run();
            String steps = one(sql, STEPS);
            String note = one(sql, NOTE);
            assertThat(note)
                    .startsWith("hongbao V1__ledger.sql ")
                    .endsWith(" for " + app.login().user());

            // When it is run again, and then on what another version left
            migrate.run();
            assertThat(one(sql, STEPS)).isEqualTo(steps);
            sql.execute("comment on table flyway_schema_history is 'hongbao of another day'");
            sql.execute("delete from flyway_schema_history where version is null"); // the grants
            migrate.run();

            // Then
            assertThat(one(sql, STEPS)).isEqualTo(steps);
            assertThat(one(sql, NOTE)).isEqualTo(note);
        }
    }

    private static String one(Statement sql, String query) throws Exception {
        try (ResultSet rows = sql.executeQuery(query)) {
            rows.next();
            return rows.getString(1);
        }
    }
}
