package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.engine.embedded.EmbeddedOptions;
import dev.hongbao.engine.embedded.EmbeddedRedis;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What the doctor asks when one store is the server's own. */
@ExtendWith(Servers.class)
class DoctorIT {
    @TempDir
    private Path data;

    @Test
    void eachStoreIsAskedForItselfAndNoneIsStarted(TestServers servers) throws Exception {
        TestEngine.start(servers, 1, Map.of()).close();
        HongbaoConfig config = HongbaoConfig.of(Map.of(
                "data.dir", data.toString(),
                "management.port", "1",
                "postgres.url", servers.postgresAppUrl(),
                "postgres.owner-url", servers.postgresOwnerUrl()));

        // Given a server whose Redis is its own, and what a server of before has left that had a Postgres, too
        try (EmbeddedRedis redis = EmbeddedRedis.start(
                data, EmbeddedOptions.defaults().withBinaries(Path.of("target", "test-servers", "bin")))) {
            leaveUrls();

            // Then both are asked, and the disk is looked at
            assertThat(examine(config))
                    .anyMatch(line -> line.startsWith("Redis 7"))
                    .anyMatch(line -> line.startsWith("Postgres "))
                    .anyMatch(line -> line.startsWith("The disk of the data directory"))
                    .noneMatch(line -> line.contains("not asked"));
        }

        // When the server has ended, and left its port behind
        Path log = data.resolve("logs").resolve("redis.log");
        String before = Files.readString(log);
        List<String> ended = examine(config);

        // Then its Redis is not started
        assertThat(ended)
                .contains("Its own Redis is not asked: it runs while the server does")
                .anyMatch(line -> line.startsWith("Postgres "));
        assertThat(Files.readString(log)).isEqualTo(before);
    }

    private void leaveUrls() throws Exception {
        Files.writeString(
                data.resolve("secrets").resolve("urls"),
                String.join(
                        "\n",
                        "redis://:no@127.0.0.1:1",
                        "redis://:no@127.0.0.1:1",
                        "postgresql://no:no@127.0.0.1:1/no",
                        "postgresql://no:no@127.0.0.1:1/no",
                        "postgresql://no:no@127.0.0.1:1/no"));
    }

    private static List<String> examine(HongbaoConfig config) {
        return Doctor.examine(config).stream().map(Ailment::what).toList();
    }
}
