package dev.hongbao.store.embedded;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.testing.TestServers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Children that are killed come back; {@code JarIT} shows that those of a killed JVM end with it. */
class ChildrenIT {
    private static final Duration SOON = Duration.ofSeconds(20);

    @TempDir
    Path dataDir;

    private EmbeddedServers start() {
        return EmbeddedServers.start(dataDir, EmbeddedOptions.defaults().withBinaries(TestServers.BINARIES));
    }

    @Test
    void aKilledChildComesBackOnItsPortWithItsDataEachTimeUntilTheClose() throws Exception {
        // Given
        EmbeddedServers servers = start();
        StoredValue.write(servers, "safe");
        for (int time = 0; time < 2; time++) {
            long redis = servers.redis().pid();
            long postgres = servers.postgres().pid();

            // When
            servers.redis().kill();
            servers.postgres().kill();

            // Then
            eventually(SOON, () -> assertThat(servers.redis().pid()).isNotEqualTo(redis));
            eventually(
                    SOON,
                    () -> assertThat(StoredValue.readRedis(servers.redis())).isEqualTo("safe"));
            eventually(SOON, () -> assertThat(servers.postgres().pid()).isNotEqualTo(postgres));
            eventually(
                    SOON,
                    () -> assertThat(StoredValue.readPostgres(servers.postgres()))
                            .isEqualTo("safe"));
        }

        // When one is killed and all is closed, twice
        List<Long> pids = List.of(servers.redis().pid(), servers.postgres().pid());
        servers.redis().kill();
        servers.close();
        servers.close();

        // Then nothing comes back
        assertThat(servers.redis().running()).isFalse();
        assertThat(servers.postgres().running()).isFalse();
        assertThat(pids).allSatisfy(pid -> assertThat(alive(pid)).isFalse());
        assertThat(EmbeddedRedis.running(dataDir)).isEmpty();
    }

    @Test
    void withoutSupervisionAKilledChildStaysDead() {
        // Given
        EmbeddedOptions options =
                EmbeddedOptions.defaults().withBinaries(TestServers.BINARIES).withSupervised(false);
        try (EmbeddedRedis redis = EmbeddedRedis.start(dataDir, options)) {
            long pid = redis.pid();

            // When
            redis.kill();

            // Then
            eventually(SOON, () -> assertThat(redis.running()).isFalse());
            assertThat(redis.pid()).isEqualTo(pid);
        }
    }

    @Test
    void aJvmKilledInTheMiddleOfItsFirstStartDoesNotStandInTheWayOfTheNext() throws Exception {
        // Given
        try (OtherJvm other = new OtherJvm(dataDir, TestServers.BINARIES)) {
            eventually(SOON, () -> assertThat(dataDir).isDirectoryContaining("glob:**/postgres.partial-*"));

            // When
            other.kill();
        }

        // Then: at once, while initdb may still be at work
        try (EmbeddedServers servers = start()) {
            StoredValue.write(servers, "next");
            assertThat(StoredValue.readPostgres(servers.postgres())).isEqualTo("next");
            assertThat(dataDir).isDirectoryNotContaining("glob:**/postgres.partial-*");
        }
    }

    private static boolean alive(long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }
}
