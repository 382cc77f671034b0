package dev.hongbao.store.postgres;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a URL says holds for every connection to it, whatever the role's and the database's defaults are. */
@ExtendWith(Servers.class)
class PostgresAddressIT {
    @ParameterizedTest
    @ValueSource(strings = {"currentSchema", "search_path"})
    void aSchemaIsTheSameForTheMigrationAndTheServer(String parameter, TestServers servers) throws Exception {
        // Given
        PostgresAddress address = PostgresAddress.of(servers.postgresOwnerUrl() + "?" + parameter + "=elsewhere");

        // Then
        assertThat(asked(address, "show search_path")).isEqualTo("elsewhere");
        try (Connection connection =
                        DriverManager.getConnection(address.jdbcUrl(), address.user(), address.password());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("show search_path")) {
            rows.next();
            assertThat(rows.getString(1)).isEqualTo("elsewhere");
        }
    }

    @Test
    void ourSessionsAreReadCommittedAndCompileNothingThoughTheRoleHasOtherDefaults(TestServers servers) {
        // Given
        PostgresAddress owner = PostgresAddress.of(servers.postgresOwnerUrl());
        asked(owner, "alter role current_user set default_transaction_isolation = 'serializable'");
        asked(owner, "alter role current_user set jit = on");
        try {
            // Then
            assertThat(asked(owner, "show transaction_isolation")).isEqualTo("read committed");
            assertThat(asked(owner, "show jit")).isEqualTo("off");
        } finally {
            asked(owner, "alter role current_user reset all");
        }
    }

    /** The question for the owners' work has some 2,400 characters, and is asked ten times a second. */
    @Test
    void aLongStatementStaysPrepared(TestServers servers) {
        String itself = "select count(*)::text from pg_prepared_statements --" + " long".repeat(800);
        assertThat(asked(PostgresAddress.of(servers.postgresAppUrl()), itself)).isEqualTo("1");
    }

    private static String asked(PostgresAddress address, String sql) {
        Vertx vertx = Vertx.vertx();
        try {
            Pool pool = new Postgres(vertx, address).pool("test", 1, 1, Duration.ofSeconds(8));
            return get(pool.preparedQuery(sql).execute().map(rows -> {
                var each = rows.iterator();
                return each.hasNext() ? each.next().getString(0) : "";
            }));
        } finally {
            get(vertx.close());
        }
    }
}
