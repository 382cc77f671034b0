package dev.hongbao.testing;

import dev.hongbao.engine.postgres.PostgresAddress;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.flywaydb.core.Flyway;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.RestoreParams;

/**
 * All that the stores of a test hold, in one small file: the rows of Postgres, with the number of the last migration, and the keys of
 * Redis. A released version's file is made by that version and never again, so that later ones show that they start on it.
 *
 * <p>The schema is not in it: a released migration is never edited, so the first so many of them make the schema of that version.
 */
public final class SavedData {
    private static final String MIGRATED = "migrated ";
    private static final String TABLE = "table ";
    private static final String SEQUENCE = "sequence ";
    private static final String KEY = "key ";

    private static final String TABLES_AND_PARTS =
            "select c.relname from pg_class as c join pg_namespace as n on n.oid = c.relnamespace"
                    + " where n.nspname = 'public' and c.relkind in ('r', 'p')"
                    + " and c.relname <> 'flyway_schema_history'";

    private static final String TABLES = TABLES_AND_PARTS + " and not c.relispartition order by c.relname";

    private static final String REFERS = "select count(*) from pg_constraint where contype = 'f' and conparentid = 0"
            + " and conrelid = '%s'::regclass and confrelid = '%s'::regclass";

    private SavedData() {}

    /** Writes what is in the stores. Nobody else may be at work in Postgres. */
    public static void write(TestServers servers, Path file) {
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement();
                Jedis redis = new Jedis(URI.create(servers.redisUrl()));
                Writer out = new BufferedWriter(new OutputStreamWriter(
                        new GZIPOutputStream(Files.newOutputStream(file)), StandardCharsets.UTF_8))) {
            line(
                    out,
                    MIGRATED,
                    strings(
                                    sql,
                                    "select version from flyway_schema_history where version is not null"
                                            + " order by installed_rank desc limit 1")
                            .get(0));
            for (String table : inOrder(sql)) {
                line(out, TABLE, table);
                for (String row : strings(sql, "select row_to_json(t) from " + table + " as t order by t::text")) {
                    line(out, "", row);
                }
            }
            for (String sequence : strings(
                    sql,
                    "select sequencename || ' ' || last_value from pg_sequences"
                            + " where schemaname = 'public' and last_value is not null order by 1")) {
                line(out, SEQUENCE, sequence);
            }
            for (String key : redis.keys("{*").stream().sorted().toList()) {
                line(out, KEY, key + " " + Base64.getEncoder().encodeToString(redis.dump(key)));
            }
        } catch (SQLException | IOException fault) {
            throw new IllegalStateException(fault);
        }
    }

    private static void line(Writer out, String word, String rest) throws IOException {
        out.write(word + rest + "\n");
    }

    /** Puts what was written into stores that are empty. */
    public static void load(TestServers servers, Path file) {
        List<String> lines = lines(file);
        migrate(servers, lines.get(0).substring(MIGRATED.length()));
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = connection.createStatement();
                Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            List<String> guarded = strings(sql, TABLES_AND_PARTS);
            for (String table : guarded) {
                sql.execute("alter table " + table + " disable trigger user");
            }
            sql.execute("truncate " + String.join(", ", strings(sql, TABLES)));
            String table = "";
            for (String line : lines.subList(1, lines.size())) {
                if (line.startsWith(TABLE)) {
                    table = line.substring(TABLE.length());
                } else if (line.startsWith(SEQUENCE)) {
                    String[] words = line.split(" ", -1);
                    sql.execute("select setval('" + words[1] + "', " + words[2] + ")");
                } else if (line.startsWith(KEY)) {
                    String[] words = line.split(" ", -1);
                    redis.restore(words[1], 0, Base64.getDecoder().decode(words[2]), RestoreParams.restoreParams());
                } else {
                    insert(connection, table, line);
                }
            }
            for (String each : guarded) {
                sql.execute("alter table " + each + " enable trigger user");
            }
        } catch (SQLException fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** The schema of the version that has written the file; its grants follow with the next start. */
    private static void migrate(TestServers servers, String version) {
        PostgresAddress owner = PostgresAddress.of(servers.postgresOwnerUrl());
        Flyway.configure()
                .dataSource(owner.jdbcUrl(), owner.login().user(), owner.login().password())
                .locations("classpath:db/migration")
                .repeatableSqlMigrationPrefix("none")
                .placeholders(Map.of(
                        "app",
                        PostgresAddress.of(servers.postgresAppUrl()).login().user()))
                .target(version)
                .load()
                .migrate();
    }

    private static void insert(Connection connection, String table, String row) throws SQLException {
        String columns;
        try (Statement sql = connection.createStatement()) {
            columns = String.join(
                    ", ",
                    strings(
                            sql,
                            "select quote_ident(attname) from pg_attribute where attrelid = '" + table
                                    + "'::regclass and attnum > 0 and not attisdropped and attgenerated = ''"));
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into " + table + " (" + columns
                + ") overriding system value select " + columns + " from json_populate_record(null::" + table
                + ", ?::json)")) {
            insert.setString(1, row);
            insert.execute();
        }
    }

    /** Each table after those that it refers to. */
    private static List<String> inOrder(Statement sql) throws SQLException {
        List<String> left = new ArrayList<>(strings(sql, TABLES));
        List<String> ordered = new ArrayList<>();
        while (!left.isEmpty()) {
            int before = left.size();
            for (String table : List.copyOf(left)) {
                boolean refers = false;
                for (String other : left) {
                    refers |= !other.equals(table)
                            && !strings(sql, REFERS.formatted(table, other))
                                    .get(0)
                                    .equals("0");
                }
                if (!refers) {
                    ordered.add(table);
                    left.remove(table);
                }
            }
            if (left.size() == before) {
                throw new IllegalStateException("they refer to each other: " + left);
            }
        }
        return ordered;
    }

    private static List<String> strings(Statement sql, String query) throws SQLException {
        List<String> found = new ArrayList<>();
        try (ResultSet rows = sql.executeQuery(query)) {
            while (rows.next()) {
                found.add(rows.getString(1));
            }
        }
        return found;
    }

    private static List<String> lines(Path file) {
        try (BufferedReader in = new BufferedReader(
                new InputStreamReader(new GZIPInputStream(Files.newInputStream(file)), StandardCharsets.UTF_8))) {
            return in.lines().toList();
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    /** The files of all released versions, the oldest first. */
    public static List<Path> released(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.sorted(Comparator.comparing(Path::toString)).toList();
        }
    }
}
