package dev.hongbao.testing;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * Servers that are not our children: given ones, or containers. The two roles are created with a known password; the
 * Redis is emptied for each test class.
 */
final class RemoteSharedServers implements SharedServers {
    private static final String PASSWORD = "hongbao-test";
    private static final String OWNER = "hongbao_owner";
    private static final String APP = "hongbao";

    private final String redisUrl;
    private final String adminUrl;

    /** @param adminUrl of a role that may create roles and databases */
    RemoteSharedServers(String redisUrl, String adminUrl) {
        this.redisUrl = redisUrl;
        this.adminUrl = adminUrl;
        TestDatabase.ensureRole(adminUrl, OWNER, PASSWORD);
        TestDatabase.ensureRole(adminUrl, APP, PASSWORD);
    }

    /** Fails, and does not skip, without a Docker engine. The engine removes the containers after the JVM ended. */
    @SuppressWarnings("resource")
    static RemoteSharedServers inContainers() {
        if (Files.exists(Path.of("/.dockerenv")) && System.getenv("TESTCONTAINERS_HOST_OVERRIDE") == null) {
            throw new IllegalStateException("inside a container, set TESTCONTAINERS_HOST_OVERRIDE to where published"
                    + " ports are reached; without it the search for them hangs for minutes");
        }
        GenericContainer<?> redis = new GenericContainer<>("redis:7.4-bookworm")
                .withExposedPorts(6379)
                .withCommand("redis-server", "--requirepass", PASSWORD, "--appendonly", "yes", "--save", "");
        // The class would turn fsync off, and a server refuses to start on such a Postgres.
        PostgreSQLContainer postgres = new PostgreSQLContainer("postgres:18-bookworm").withCommand("postgres");
        redis.start();
        postgres.start();
        return new RemoteSharedServers(
                "redis://:" + PASSWORD + "@" + redis.getHost() + ":" + redis.getMappedPort(6379),
                "postgresql://" + postgres.getUsername() + ":" + postgres.getPassword() + "@" + postgres.getHost() + ":"
                        + postgres.getMappedPort(PostgreSQLContainer.POSTGRESQL_PORT) + "/"
                        + postgres.getDatabaseName());
    }

    @Override
    public String adminUrl() {
        return adminUrl;
    }

    @Override
    public String ownerUrl() {
        return withLogin(OWNER);
    }

    @Override
    public String appUrl() {
        return withLogin(APP);
    }

    private String withLogin(String role) {
        URI uri = URI.create(adminUrl);
        return "postgresql://" + role + ":" + PASSWORD + "@" + uri.getHost() + ":" + uri.getPort() + uri.getPath();
    }

    @Override
    public String copyStrategy() {
        return "WAL_LOG";
    }

    @Override
    public TestRedis freshRedis() {
        return new TestRedis.Emptied(redisUrl);
    }
}
