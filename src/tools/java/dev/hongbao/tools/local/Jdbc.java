package dev.hongbao.tools.local;

import dev.hongbao.store.postgres.PostgresAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Statements to Postgres, each on a connection of its own. Stateless; blocking. */
public final class Jdbc {
    private static final int LOGIN_SECONDS = 10;

    private Jdbc() {}

    public static Connection connect(PostgresAddress address) throws SQLException {
        DriverManager.setLoginTimeout(LOGIN_SECONDS);
        return DriverManager.getConnection(address.jdbcUrl(), address.user(), address.password());
    }

    /** Runs texts of one or more statements, each text in its own transaction. */
    public static void execute(PostgresAddress address, String... texts) throws SQLException {
        try (Connection connection = connect(address);
                Statement statement = connection.createStatement()) {
            for (String each : texts) {
                statement.execute(each);
            }
        }
    }

    /** @return all columns of all rows as text; "null" for null */
    public static List<List<String>> rows(PostgresAddress address, String sql) throws SQLException {
        try (Connection connection = connect(address);
                Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(sql)) {
            int columns = found.getMetaData().getColumnCount();
            List<List<String>> rows = new ArrayList<>();
            while (found.next()) {
                List<String> row = new ArrayList<>();
                for (int column = 1; column <= columns; column++) {
                    row.add(String.valueOf(found.getString(column)));
                }
                rows.add(row);
            }
            return rows;
        }
    }

    /** @return the first column of the first row */
    public static String one(PostgresAddress address, String sql) throws SQLException {
        return rows(address, sql).get(0).get(0);
    }
}
