package dev.hongbao.postgres;

import java.util.Map;
import org.flywaydb.core.Flyway;

/** Brings the schema to this version's. Blocking: call it before the event loops have work. */
public final class Migrations {
    private Migrations() {}

    /**
     * Migrates; a no-op when the schema is there already. Safe to run from several servers at once (Flyway locks).
     *
     * @param owner the role that owns the tables
     * @param app the role the server works as; the same name when there is only one
     * @throws org.flywaydb.core.api.FlywayException when Postgres is away, or the schema is newer than this version
     */
    public static void run(PostgresAddress owner, PostgresAddress app) {
        Flyway.configure(Migrations.class.getClassLoader())
                .dataSource(owner.jdbcUrl(), owner.user(), owner.password())
                .locations("classpath:db/migration")
                .placeholders(Map.of("app", quoted(app.user())))
                .connectRetries(3)
                .load()
                .migrate();
    }

    private static String quoted(String identifier) {
        return '"' + identifier.replace("\"", "\"\"") + '"';
    }
}
