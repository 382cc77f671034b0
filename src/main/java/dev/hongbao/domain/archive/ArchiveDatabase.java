package dev.hongbao.domain.archive;

import dev.hongbao.common.values.Release;
import dev.hongbao.engine.postgres.PostgresAddress;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.copy.CopyManager;
import org.postgresql.core.BaseConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The database, as the owner of its tables. One connection, which holds a lock: one archives or reads back at a time. */
final class ArchiveDatabase implements AutoCloseable {
    /** In the order in which they are written; by which id their rows belong to a month, and what follows in their primary keys. */
    private static final List<Table> TABLES = List.of(
            new Table("packet_amounts", "packet", "block"),
            new Table("play", "draw", "seq"),
            new Table("transfer", "subject", "id"));

    private static final String LOCK = "select pg_try_advisory_lock(hashtextextended('hongbao archive', 0))";

    private static final String UNLOCK = "select pg_advisory_unlock_all()";

    /** What a row is written as depends on nothing but the row. */
    private static final String FORM =
            "set application_name = 'hongbao archive'; set timezone = 'UTC'; set datestyle = 'ISO'; set bytea_output = 'hex'";

    private static final String MONTHS = "select to_char(month, 'YYYY-MM'), archived_at is not null, manifest"
            + " from archive_month order by month";

    private static final String SUMS = "select asset, kind, transfers, amount from archive_sums(?::date)";

    private static final Logger LOG = LoggerFactory.getLogger(ArchiveDatabase.class);

    private final Connection connection;

    private ArchiveDatabase(Connection connection) {
        this.connection = connection;
    }

    /** A table that is kept in months. */
    record Table(String name, String key, String next) {}

    /**
     * A month that is sealed or archived.
     *
     * @param manifest SHA-256 of its manifest; null while it is only sealed
     */
    record Month(
            YearMonth month, boolean archived, @Nullable String manifest) {}

    static List<Table> tables() {
        return TABLES;
    }

    /** @throws ArchiveHinderedException when somebody else is at it */
    static ArchiveDatabase open(PostgresAddress owner) throws SQLException {
        Connection connection = DriverManager.getConnection(
                owner.jdbcUrl(), owner.login().user(), owner.login().password());
        try {
            ArchiveDatabase database = new ArchiveDatabase(connection);
            database.execute(FORM);
            if (!database.first(LOCK, rows -> rows.getBoolean(1))) {
                throw new ArchiveHinderedException("Another `hongbao archive` is at work on this database.");
            }
            return database;
        } catch (SQLException | RuntimeException fault) {
            connection.close();
            throw fault;
        }
    }

    /** Makes something of the row that a result stands at. */
    interface Reading<T> {
        T of(ResultSet row) throws SQLException;
    }

    <T> List<T> all(String sql, Reading<T> reading, Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            try (ResultSet rows = statement.executeQuery()) {
                List<T> all = new ArrayList<>();
                while (rows.next()) {
                    all.add(reading.of(rows));
                }
                return all;
            }
        }
    }

    <T> T first(String sql, Reading<T> reading, Object... parameters) throws SQLException {
        return all(sql, reading, parameters).get(0);
    }

    void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Those that are sealed or archived, the earliest first. */
    List<Month> months() throws SQLException {
        return all(MONTHS, row -> new Month(YearMonth.parse(row.getString(1)), row.getBoolean(2), row.getString(3)));
    }

    Manifest.Origin origin() throws SQLException {
        return first(
                "select i.id, (select version from flyway_schema_history where version is not null order by installed_rank desc limit 1)"
                        + " from installation as i",
                row -> new Manifest.Origin(row.getObject(1, UUID.class), Release.THIS.version(), row.getString(2)));
    }

    /** Of a month that is sealed. */
    List<Manifest.Sum> sums(YearMonth month) throws SQLException {
        return all(
                SUMS,
                row -> new Manifest.Sum(
                        row.getString(1),
                        row.getString(2),
                        row.getLong(3),
                        row.getBigDecimal(4).toBigIntegerExact()),
                date(month));
    }

    /** A table's rows of a sealed month in the order of its primary key, as CSV with a header. @return how many */
    long copyOut(Table table, YearMonth month, OutputStream out) throws SQLException, IOException {
        String[] bounds = first(
                "select first_id, end_id from archive_month where month = ?::date",
                row -> new String[] {row.getString(1), row.getString(2)},
                date(month));
        return copies().copyOut(
                        "copy (select * from %1$s where %2$s >= '%4$s' and %2$s < '%5$s' order by %2$s, %3$s) to stdout (format csv, header)"
                                .formatted(table.name, table.key, table.next, bounds[0], bounds[1]),
                        out);
    }

    /** Reads CSV with a header into a table. @return how many rows */
    long copyIn(String table, InputStream in) throws SQLException, IOException {
        return copies().copyIn("copy " + table + " from stdin (format csv, header match)", in);
    }

    private CopyManager copies() throws SQLException {
        return new CopyManager(connection.unwrap(BaseConnection.class));
    }

    void seal(YearMonth month) throws SQLException {
        all("select seal_month(?::date)", row -> month, date(month));
    }

    void finish(YearMonth month, String manifest, List<Manifest.Part> parts) throws SQLException {
        all(
                "select finish_archive(?::date, ?, ?, ?)",
                row -> month,
                date(month),
                manifest,
                connection.createArrayOf(
                        "text", parts.stream().map(Manifest.Part::table).toArray()),
                connection.createArrayOf(
                        "bigint", parts.stream().map(Manifest.Part::rows).toArray()));
    }

    static String date(YearMonth month) {
        return month.atDay(1).toString();
    }

    /** Whoever opens it next finds the lock free: Postgres ends a connection a moment after it is closed. */
    @Override
    public void close() {
        try (connection) {
            execute(UNLOCK);
        } catch (SQLException lost) {
            LOG.debug("the connection was lost, and its lock with it: {}", lost.toString());
        }
    }
}
