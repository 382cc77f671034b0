package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.engine.redis.RedisInfo;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each rule of the start: what refuses, what warns, what passes. */
class StartChecksTest {
    private static final String SECRET = "d1e8a70b5ccab1dc2f56bbf7e99f064a660c08e361a35751b9c483c88943d082";

    @TempDir
    private Path directory;

    private static void assertFound(List<StartFinding> findings, String expected) {
        switch (expected.split(" ", 2)[0]) {
            case "passes" -> assertThat(findings).isEmpty();
            case "refuses" -> assertThat(findings).singleElement().matches(StartFinding::refuses);
            case "warns" -> assertThat(findings).singleElement().matches(finding -> !finding.refuses());
            default -> throw new IllegalArgumentException(expected);
        }
        if (!findings.isEmpty()) {
            assertThat(findings.get(0).text()).contains(expected.split(" ", 2)[1]);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "7.0.15, noeviction, 1, passes",
        "8.2.1, noeviction, 1, passes",
        "6.2.14, noeviction, 1, refuses 7.0",
        "'', noeviction, 1, refuses 7.0",
        "7.4.0, allkeys-lru, 1, refuses set it to noeviction",
        "7.4.0, allkeys-random, 1, refuses set it to noeviction",
        "7.4.0, volatile-lru, 1, warns set it to noeviction",
        "7.4.0, '', 1, warns set it to noeviction",
        "7.4.0, noeviction, 0, warns set appendonly to yes",
        "7.4.0, noeviction, '', warns set appendonly to yes"
    })
    void redis(String version, String policy, String aof, String expected) {
        RedisInfo info =
                new RedisInfo(Map.of("redis_version", version, "maxmemory_policy", policy, "aof_enabled", aof));
        assertFound(RedisRules.check(info), expected);
    }

    @ParameterizedTest
    @CsvSource({
        "150004, on, on, passes",
        "180000, on, remote_apply, passes",
        "140011, on, on, refuses 14.11",
        "160000, off, on, refuses fsync",
        "160000, on, off, refuses synchronous_commit"
    })
    void postgres(int version, String fsync, String synchronousCommit, String expected) {
        assertFound(PostgresRules.check(new PostgresRules.Settings(version, fsync, synchronousCommit)), expected);
    }

    @ParameterizedTest
    @CsvSource({
        "rw-------, 64, passes",
        "r--------, 64, passes",
        "rw-r-----, 64, warns may read",
        "r--r--r--, 64, warns may read",
        "rw--w----, 64, refuses may write",
        "rw-rw-rw-, 64, refuses may write",
        "rw-------, 31, refuses 31 bytes"
    })
    void secret(String permissions, int length, String expected) throws Exception {
        Path file = Files.writeString(directory.resolve("secret"), SECRET.substring(0, length));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        assertFound(SecretRules.check(file), expected);
    }

    @Test
    void aSecretThatCanBeGuessed() throws Exception {
        Path file = Files.writeString(
                directory.resolve("secret"),
                "changeme".repeat(8).substring(0, 7).repeat(10));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertFound(SecretRules.check(file), "refuses can be guessed");
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 127.0.0.1, passes",
        "localhost, 127.0.0.1, passes",
        "0.0.0.0, 127.0.0.1, warns http.host",
        "'::', 127.0.0.1, warns http.host",
        "127.0.0.1, 0.0.0.0, warns management.host"
    })
    void exposure(String http, String management, String expected) {
        HongbaoConfig config = HongbaoConfig.of(Map.of("http.host", http, "management.host", management));
        assertFound(ListenRules.exposure(config), expected);
    }

    @ParameterizedTest
    @CsvSource({"http, management", "management, http"})
    void aTakenPort(String taken, String free) throws Exception {
        try (ServerSocket holder = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            // When
            List<StartFinding> findings = ListenRules.ports(HongbaoConfig.of(
                    Map.of(taken + ".port", Integer.toString(holder.getLocalPort()), free + ".port", "0")));

            // Then
            assertFound(findings, "refuses " + taken + ".port: cannot listen on 127.0.0.1:" + holder.getLocalPort());
            assertThat(findings.get(0).text()).contains("--" + taken + "-port");
        }
    }

    @Test
    void aDeclaredProxyIsBelievedToHaveTls() {
        HongbaoConfig config = HongbaoConfig.of(Map.of("http.host", "0.0.0.0", "http.trusted-proxies", "10.0.0.7"));
        assertFound(ListenRules.exposure(config), "passes");
    }

    @Test
    void aHostThatIsNone() {
        List<StartFinding> findings =
                ListenRules.ports(HongbaoConfig.of(Map.of("http.host", "no-such-host.invalid", "http.port", "0")));
        assertThat(findings)
                .anyMatch(finding -> finding.refuses()
                        && finding.text().startsWith("http.host: no-such-host.invalid is no address of this machine"));
    }

    @Test
    void keysThatAnotherServerDoesNotHave() throws Exception {
        Path file = Files.writeString(directory.resolve("secret"), SECRET);
        HongbaoConfig own = HongbaoConfig.of(Map.of());
        HongbaoConfig shared = HongbaoConfig.of(Map.of("token.secret-file", file.toString()));
        HongbaoConfig issuer = HongbaoConfig.of(Map.of("token.algorithm", "RS256", "token.jwks-file", file.toString()));
        assertFound(TokenKeysRule.check(own.token(), 0xa1, List.of()), "passes");
        assertFound(TokenKeysRule.check(own.token(), 0xa1, List.of(0xb2)), "refuses is b2, ours is a1; it is not set");
        assertFound(TokenKeysRule.check(shared.token(), 0xa1, List.of(0xb2)), "refuses stop all servers first");
        assertFound(TokenKeysRule.check(issuer.token(), 0xa1, List.of(0xb2)), "warns is b2, ours is a1");
    }

    @Test
    void everyReasonIsTold() {
        assertThatThrownBy(() -> StartChecks.enforce(
                        List.of(StartFinding.refuse("one"), StartFinding.warn("two"), StartFinding.refuse("three"))))
                .isInstanceOf(StartRefusedException.class)
                .hasMessageContainingAll("one", "three")
                .hasMessageNotContaining("two");
    }
}
