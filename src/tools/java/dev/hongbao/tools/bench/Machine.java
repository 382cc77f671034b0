package dev.hongbao.tools.bench;

import dev.hongbao.server.StoreAddresses;
import io.vertx.core.json.JsonObject;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import redis.clients.jedis.Jedis;

/** What the numbers were measured on: absolute ones mean nothing without it. */
final class Machine {
    private Machine() {}

    /** For people. @param machine {@link #toJson} of when it was measured @param servers their versions */
    static String describe(JsonObject machine, String servers) {
        return String.format(
                Locale.ROOT,
                "%d cores (load %.1f at the begin), JDK %s, %s%s; Postgres with fsync and synchronous_commit on, Redis with"
                        + " its AOF",
                machine.getInteger("cores"),
                machine.getDouble("load"),
                machine.getString("jdk"),
                machine.getString("os"),
                servers.isEmpty() ? "" : ", " + servers);
    }

    static JsonObject toJson() {
        return new JsonObject()
                .put("cores", cores())
                .put("load", load())
                .put("jdk", Runtime.version().toString())
                .put("os", System.getProperty("os.name") + " " + System.getProperty("os.arch"))
                .put("at", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    }

    /** The versions of the servers, as they say themselves. */
    static String versions(StoreAddresses stores) throws SQLException {
        try (Jedis jedis = new Jedis(URI.create(stores.redisUrl()));
                Connection connection = DriverManager.getConnection(
                        stores.app().jdbcUrl(),
                        stores.app().login().user(),
                        stores.app().login().password())) {
            String redis = jedis.info("server")
                    .lines()
                    .filter(line -> line.startsWith("redis_version:"))
                    .findFirst()
                    .orElse("redis_version:?");
            return "Redis " + redis.substring(redis.indexOf(':') + 1) + ", Postgres "
                    + connection.getMetaData().getDatabaseProductVersion();
        }
    }

    private static int cores() {
        return Runtime.getRuntime().availableProcessors();
    }

    /** Processes that wanted to run in the last minute. */
    private static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }
}
