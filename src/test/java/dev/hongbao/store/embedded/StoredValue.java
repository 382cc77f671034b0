package dev.hongbao.store.embedded;

import dev.hongbao.testing.TestDatabase;
import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import redis.clients.jedis.Jedis;

/** Writes a value into both stores, and reads it back. */
final class StoredValue {
    private StoredValue() {}

    static void write(EmbeddedServers servers, String value) throws SQLException {
        try (Jedis redis = new Jedis(URI.create(servers.redis().url()))) {
            redis.set("value", value);
        }
        try (Connection owner = TestDatabase.connect(servers.postgres().ownerUrl());
                Statement statement = owner.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS kept (value text)");
            statement.execute("GRANT SELECT ON kept TO hongbao");
            statement.execute("DELETE FROM kept");
            statement.execute("INSERT INTO kept VALUES ('" + value + "')");
        }
    }

    static String readRedis(EmbeddedRedis server) {
        try (Jedis redis = new Jedis(URI.create(server.url()))) {
            return redis.get("value");
        }
    }

    static String readPostgres(EmbeddedPostgres server) throws SQLException {
        try (Connection app = TestDatabase.connect(server.appUrl());
                Statement statement = app.createStatement();
                ResultSet rows = statement.executeQuery("SELECT value FROM kept")) {
            rows.next();
            return rows.getString(1);
        }
    }
}
