package dev.hongbao.testing;

import dev.hongbao.store.embedded.EmbeddedPostgres;
import dev.hongbao.store.embedded.EmbeddedServers;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Child processes of this JVM with their data under {@code target}: one Postgres for all, a Redis for each test class.
 * They end with the JVM. The cluster stays for the next run, which then starts in half a second.
 */
final class EmbeddedSharedServers implements SharedServers {
    private static final Path ROOT = Path.of("target", "test-servers");
    private static final int JVMS_AT_ONCE = 8;

    private static final EmbeddedOptions OPTIONS = EmbeddedOptions.defaults().withBinaries(TestServers.BINARIES);

    private final AtomicInteger redisCount = new AtomicInteger();
    private final Path directory;
    private EmbeddedPostgres postgres;

    private EmbeddedSharedServers(Path directory) {
        this.directory = directory;
        this.postgres = EmbeddedPostgres.start(directory, OPTIONS);
        TestDatabase.dropLeftovers(postgres.adminUrl());
    }

    /** Takes the first data directory that no other JVM of this checkout uses. */
    static EmbeddedSharedServers start() {
        for (int i = 0; ; i++) {
            try {
                return new EmbeddedSharedServers(ROOT.resolve(Integer.toString(i)));
            } catch (EmbeddedServers.InUseException e) {
                if (i == JVMS_AT_ONCE) {
                    throw e;
                }
            }
        }
    }

    @Override
    public String adminUrl() {
        return postgres.adminUrl();
    }

    @Override
    public String ownerUrl() {
        return postgres.ownerUrl();
    }

    @Override
    public String appUrl() {
        return postgres.appUrl();
    }

    @Override
    public TestRedis freshRedis() {
        Path own = directory.resolve("redis-" + ProcessHandle.current().pid() + "-" + redisCount.incrementAndGet());
        return new TestRedis.Own(own, OPTIONS);
    }

    EmbeddedPostgres postgres() {
        return postgres;
    }

    void stopPostgres() {
        postgres.close();
    }

    void startPostgres() {
        String before = postgres.adminUrl();
        postgres = EmbeddedPostgres.start(directory, OPTIONS);
        if (!postgres.adminUrl().equals(before)) {
            throw new IllegalStateException("somebody else took the port of " + before);
        }
    }
}
