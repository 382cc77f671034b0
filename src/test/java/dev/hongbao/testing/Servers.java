package dev.hongbao.testing;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Chooses the servers of the integration tests; the one place that does. Give it to a class with
 * {@code @ExtendWith(Servers.class)} and take a {@link TestServers} parameter in the constructor, {@code @BeforeAll} or
 * a test: one for the class, closed after it.
 *
 * <ul>
 *   <li>{@code HONGBAO_TEST_REDIS_URL} and {@code HONGBAO_TEST_POSTGRES_URL}, if set: those. The Redis is emptied; the
 *       Postgres role must be allowed to create roles and databases.
 *   <li>{@code HONGBAO_TEST_CONTAINERS=true}: containers. Not whenever an engine is there: the same command should test
 *       the same servers everywhere, and an engine may pull images first.
 *   <li>else, and always for {@link Killable} parameters: embedded ones.
 * </ul>
 */
public final class Servers implements ParameterResolver {
    private static final ExtensionContext.Namespace HERE = ExtensionContext.Namespace.create(Servers.class);

    /** Holders start their servers when they are first asked for; the servers end with the JVM. */
    private static final class Embedded {
        static final SharedServers SHARED = EmbeddedSharedServers.start();
    }

    private static final class Chosen {
        static final SharedServers SHARED = choose();
    }

    /** An empty Redis and a database without rows on the chosen servers. */
    public static TestServers fresh() {
        return new TestServers(Chosen.SHARED, TestDatabase::createMigrated);
    }

    /** An empty Redis and a database without tables on the chosen servers. */
    public static TestServers freshWithoutTables() {
        return new TestServers(Chosen.SHARED, TestDatabase::create);
    }

    /** An empty Redis and a database without rows on embedded servers, whatever was chosen. */
    public static TestServers freshKillable() {
        return new TestServers(Embedded.SHARED, TestDatabase::createMigrated);
    }

    private static SharedServers choose() {
        String redis = System.getenv("HONGBAO_TEST_REDIS_URL");
        String postgres = System.getenv("HONGBAO_TEST_POSTGRES_URL");
        if (redis != null && postgres != null) {
            return new RemoteSharedServers(redis, postgres);
        }
        if (redis != null || postgres != null) {
            throw new IllegalStateException(
                    "set both HONGBAO_TEST_REDIS_URL and HONGBAO_TEST_POSTGRES_URL, or neither");
        }
        if (Boolean.parseBoolean(System.getenv("HONGBAO_TEST_CONTAINERS"))) {
            return RemoteSharedServers.inContainers();
        }
        return Embedded.SHARED;
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TestServers.class;
    }

    @Override
    public TestServers resolveParameter(ParameterContext parameter, ExtensionContext context) {
        boolean killable = parameter.isAnnotated(Killable.class);
        ExtensionContext owner = context;
        while (owner.getTestMethod().isPresent()) {
            owner = owner.getParent().orElseThrow();
        }
        // JUnit closes what is in the class' store after the class
        return owner.getStore(HERE)
                .getOrComputeIfAbsent(
                        killable,
                        key -> new TestServers(key ? Embedded.SHARED : Chosen.SHARED, TestDatabase::createMigrated),
                        TestServers.class);
    }
}
