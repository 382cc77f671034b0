package dev.hongbao.store.embedded;

import java.util.Locale;
import java.util.stream.Stream;

/** The platforms with binaries in the jar. */
enum Platform {
    LINUX_AMD64("redis-server-7.0.15-linux-amd64", "postgres-linux-amd64.tar.gz"),
    LINUX_ARM64("redis-server-7.0.15-linux-arm64", "postgres-linux-arm64.tar.gz");

    /** Names on the class path. */
    final String redisResource;

    final String postgresResource;

    Platform(String redisResource, String postgresResource) {
        this.redisResource = redisResource;
        this.postgresResource = postgresResource;
    }

    /** Whether the class path has the binaries of at least one platform. */
    static boolean anyIsOnTheClassPath() {
        return Stream.of(values())
                .anyMatch(each -> Platform.class.getResource("/" + each.redisResource) != null
                        && Platform.class.getResource("/" + each.postgresResource) != null);
    }

    /** @throws EmbeddedStartException for a platform without binaries */
    static Platform current() {
        return of(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
    }

    static Platform of(String system, String architecture) {
        if (system.toLowerCase(Locale.ROOT).startsWith("linux")) {
            switch (architecture.toLowerCase(Locale.ROOT)) {
                case "amd64", "x86_64" -> {
                    return LINUX_AMD64;
                }
                case "aarch64", "arm64" -> {
                    return LINUX_ARM64;
                }
                default -> {}
            }
        }
        throw new EmbeddedStartException("no embedded Redis and Postgres for " + system + " on " + architecture
                + " (only Linux on amd64 and arm64): set HONGBAO_REDIS_URL and HONGBAO_POSTGRES_URL to servers of your"
                + " own");
    }
}
