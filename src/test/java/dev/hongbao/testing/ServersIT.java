package dev.hongbao.testing;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

@ExtendWith(Servers.class)
class ServersIT {
    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void twoUsersOfTheServersDoNotSeeEachOther() throws Exception {
        try (TestServers one = Servers.freshKillable();
                TestServers two = Servers.freshKillable()) {
            // When
            try (Jedis redis = new Jedis(URI.create(one.redisUrl()))) {
                redis.set("mine", "1");
            }
            execute(one.postgresOwnerUrl(), "CREATE TABLE mine (id int)");

            // Then
            try (Jedis redis = new Jedis(URI.create(two.redisUrl()))) {
                assertThat(redis.dbSize()).isZero();
            }
            execute(two.postgresOwnerUrl(), "CREATE TABLE mine (id int)");
        }
    }

    @Test
    void theChosenServersGiveADatabaseItsOwnerAndAnApplicationWithoutRights(TestServers servers) throws Exception {
        // When
        execute(servers.postgresOwnerUrl(), "CREATE TABLE things (id int)");

        // Then
        assertThatThrownBy(() -> execute(servers.postgresAppUrl(), "INSERT INTO things VALUES (1)"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("permission denied");
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            assertThat(redis.ping()).isEqualTo("PONG");
        }
    }

    @Test
    void theParameterIsTheSameForTheWholeClass(@Killable TestServers first, @Killable TestServers second) {
        assertThat(first).isSameAs(second);
        assertThat(first.canKill()).isTrue();
    }

    @Test
    void aStoppedRedisRefusesAndStartsAgainWithItsDataOrEmpty(@Killable TestServers servers) {
        // Given
        String url = servers.redisUrl();
        try (Jedis redis = new Jedis(URI.create(url))) {
            redis.set("key", "kept");
        }

        // When, Then
        servers.stopRedis();
        assertThatThrownBy(() -> get(url, "key")).isInstanceOf(JedisConnectionException.class);
        servers.startRedis();
        assertThat(get(url, "key")).isEqualTo("kept");

        // When, Then
        servers.replaceRedisByAnEmptyOne();
        assertThat(servers.redisUrl()).isEqualTo(url);
        assertThat(get(url, "key")).isNull();
    }

    @Test
    void aStoppedOrKilledPostgresIsBackAtItsAddress(@Killable TestServers servers) throws Exception {
        // Given
        String url = servers.postgresOwnerUrl();
        execute(url, "CREATE TABLE kept (id int)", "INSERT INTO kept VALUES (7)");

        // When, Then
        servers.stopPostgres();
        assertThatThrownBy(() -> TestDatabase.connect(url).close()).isInstanceOf(SQLException.class);
        servers.startPostgres();
        assertThat(readKept(url)).isEqualTo(7);

        // When, Then
        long pid = servers.postgres().pid();
        servers.postgres().kill();
        eventually(SOON, () -> assertThat(servers.postgres().pid()).isNotEqualTo(pid));
        eventually(SOON, () -> assertThat(readKept(url)).isEqualTo(7));
    }

    private static String get(String url, String key) {
        try (Jedis redis = new Jedis(URI.create(url))) {
            return redis.get(key);
        }
    }

    private static int readKept(String url) throws SQLException {
        try (Connection connection = TestDatabase.connect(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT id FROM kept")) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private static void execute(String url, String... statements) throws SQLException {
        try (Connection connection = TestDatabase.connect(url);
                Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }
}
