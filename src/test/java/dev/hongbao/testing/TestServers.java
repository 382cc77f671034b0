package dev.hongbao.testing;

import dev.hongbao.store.embedded.EmbeddedPostgres;
import dev.hongbao.store.embedded.EmbeddedRedis;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Function;

/**
 * The stores of one test class: an empty Redis and a database without rows, shared with no other class. The URLs stay the same until
 * {@link #close}, whatever is killed or stopped meanwhile.
 */
public final class TestServers implements AutoCloseable {
    /** Where the embedded stores of tests are unpacked, once for all. */
    public static final Path BINARIES = Path.of("target", "test-servers", "bin");

    private static final Duration BACK = Duration.ofSeconds(20);
    private static final String BACKUP = "_backup";

    private final SharedServers shared;
    private final TestRedis redis;
    private final String database;

    /** @param make makes the database, and tells its name */
    TestServers(SharedServers shared, Function<SharedServers, String> make) {
        this.shared = shared;
        // the class before may have left Postgres on its way back
        this.database = Eventually.eventuallyGet(BACK, () -> make.apply(shared));
        this.redis = shared.freshRedis();
    }

    /** {@code redis://:password@host:port}. */
    public String redisUrl() {
        return redis.url();
    }

    /** As the owner of the database, for migrations. */
    public String postgresOwnerUrl() {
        return TestDatabase.inDatabase(shared.ownerUrl(), database);
    }

    /** As the application's role, which may connect and nothing more until a migration grants it. */
    public String postgresAppUrl() {
        return TestDatabase.inDatabase(shared.appUrl(), database);
    }

    /** Copies the database as it is now; nobody may be connected to it. */
    public void backUpPostgres() {
        Eventually.eventually(BACK, () -> TestDatabase.copy(shared, database, database + BACKUP));
    }

    /** Postgres is again as it was at {@link #backUpPostgres}; connections break. */
    public void restorePostgres() {
        TestDatabase.copy(shared, database + BACKUP, database);
    }

    /** The process: its pid, {@code kill -9}. Ask again after {@link #startRedis}. */
    public EmbeddedRedis redis() {
        return ownRedis().process;
    }

    /** Stops Redis in order; connections are refused until {@link #startRedis}. */
    public void stopRedis() {
        ownRedis().stop();
    }

    /** Starts a stopped Redis again, with its data. */
    public void startRedis() {
        ownRedis().start();
    }

    /** Redis is replaced by an empty one with the same address and password. */
    public void replaceRedisByAnEmptyOne() {
        TestRedis.Own own = ownRedis();
        own.stop();
        own.loseData();
        own.start();
    }

    /** The process: its pid, {@code kill -9}. Ask again after {@link #startPostgres}. */
    public EmbeddedPostgres postgres() {
        return embedded().postgres();
    }

    /** Stops Postgres in order; connections are refused until {@link #startPostgres}. */
    public void stopPostgres() {
        embedded().stopPostgres();
    }

    /** Starts a stopped Postgres again, with its data. */
    public void startPostgres() {
        embedded().startPostgres();
    }

    private EmbeddedSharedServers embedded() {
        if (shared instanceof EmbeddedSharedServers embedded) {
            return embedded;
        }
        throw new IllegalStateException("these servers are not ours to stop: mark the parameter @Killable");
    }

    private TestRedis.Own ownRedis() {
        if (redis instanceof TestRedis.Own own) {
            return own;
        }
        throw new IllegalStateException("this Redis is not ours to stop: mark the parameter @Killable");
    }

    /** Drops the database and ends the Redis. Connections to them break. */
    @Override
    public void close() {
        redis.close();
        Eventually.eventually(BACK, () -> {
            TestDatabase.drop(shared.adminUrl(), database);
            TestDatabase.drop(shared.adminUrl(), database + BACKUP);
        });
    }
}
