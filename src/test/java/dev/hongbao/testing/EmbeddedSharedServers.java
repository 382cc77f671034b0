package dev.hongbao.testing;

import dev.hongbao.store.embedded.EmbeddedPostgres;
import dev.hongbao.store.embedded.EmbeddedServers;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.tools.local.Directories;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Child processes of this JVM: one Postgres for all, a Redis for each test class. They end with the JVM, and their data with them.
 * Their logs stay.
 */
final class EmbeddedSharedServers implements SharedServers {
    private static final Path TARGET = Path.of("target", "test-servers");

    /** In memory: each class makes a database of 600 files and drops it, and then ext4 looks long for free inodes. */
    private static final Path MEMORY = Path.of(
            "/dev/shm",
            "hongbao-tests-" + Integer.toHexString(TARGET.toAbsolutePath().hashCode()));

    /** Free bytes for the clusters of the test JVMs: four took 0.9 GB. */
    private static final long ROOM = 4L << 30;

    private static final int JVMS_AT_ONCE = 8;

    private static final EmbeddedOptions OPTIONS = EmbeddedOptions.defaults()
            .withBinaries(TestServers.BINARIES)
            .withPostgresSettings(Map.of("shared_buffers", "64MB", "max_wal_size", "512MB"));

    private final AtomicInteger redisCount = new AtomicInteger();
    private final Path directory;
    private EmbeddedPostgres postgres;

    private EmbeddedSharedServers(Path directory) {
        this.directory = directory;
        this.postgres = EmbeddedPostgres.start(directory, OPTIONS);
        TestDatabase.dropLeftovers(postgres.adminUrl());
        Runtime.getRuntime().addShutdownHook(new Thread(this::end));
    }

    private void end() {
        postgres.close();
        try {
            Directories.delete(directory.resolve("postgres"));
        } catch (IOException left) {
            // the next run drops what is in it
        }
    }

    /** Takes the first data directory that no other JVM of this checkout uses. */
    static EmbeddedSharedServers start() {
        Path root = MEMORY.getParent().toFile().getUsableSpace() < ROOM ? TARGET : MEMORY;
        for (int i = 0; ; i++) {
            try {
                return new EmbeddedSharedServers(root.resolve(Integer.toString(i)));
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
    public String copyStrategy() {
        return directory.startsWith(MEMORY) ? "FILE_COPY" : "WAL_LOG";
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
