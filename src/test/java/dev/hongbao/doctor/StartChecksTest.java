package dev.hongbao.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.doctor.Check.Diagnosis;
import dev.hongbao.store.redis.RedisAddress;
import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLink.RedisInfo;
import dev.hongbao.testing.StubLink;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.impl.types.BulkType;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each rule of the start: what refuses, what warns, what passes. */
class StartChecksTest {
    private static final String SECRET = "d1e8a70b5ccab1dc2f56bbf7e99f064a660c08e361a35751b9c483c88943d082";

    @TempDir
    private Path directory;

    private static void assertFound(List<Diagnosis> findings, String expected) {
        switch (expected.split(" ", 2)[0]) {
            case "passes" -> assertThat(findings).isEmpty();
            case "refuses" -> assertThat(findings).singleElement().matches(Diagnosis::refuses);
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
        assertFound(RedisChecks.check(info, RedisAddress.Kind.SERVER), expected);
    }

    /** A server that reads its data back answers INFO, and little else. */
    @Test
    void aRedisThatLoadsItsDataIsAwayWhateverItSays() {
        // Given
        String info = "redis_version:7.4.0\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\nloading:1\r\n"
                + "loading_eta_seconds:9\r\n";
        RedisLink loading = new StubLink(asked -> Future.succeededFuture(BulkType.create(Buffer.buffer(info), false)));

        // When
        Throwable fault =
                RedisChecks.ask(loading, RedisAddress.Kind.SERVER, null).cause();

        // Then
        assertThat(fault).matches(RedisFault::isAway).hasMessageContaining("about 9 s more");
    }

    @ParameterizedTest
    @CsvSource({"no, passes", "yes, refuses set it to no", "'', warns set it to no"})
    void aClusterServesOnWhenAMasterIsAway(String fullCoverage, String expected) {
        assertFound(RedisChecks.checkFullCoverage(fullCoverage), expected);
    }

    @ParameterizedTest
    @CsvSource({"SERVER, refuses redis+cluster", "SENTINEL, refuses redis+cluster", "CLUSTER, passes"})
    void aNodeOfAClusterIsNamedAsOne(RedisAddress.Kind kind, String expected) {
        RedisInfo info = new RedisInfo(Map.of(
                "redis_version",
                "7.2.0",
                "maxmemory_policy",
                "noeviction",
                "aof_enabled",
                "1",
                "cluster_enabled",
                "1"));
        assertFound(RedisChecks.check(info, kind), expected);
    }

    @ParameterizedTest
    @CsvSource({
        "150004, on, on, UTF8, read committed, off, passes",
        "180000, on, remote_apply, UTF8, read committed, off, passes",
        "140011, on, on, UTF8, read committed, off, refuses 14.11",
        "160000, off, on, UTF8, read committed, off, refuses fsync",
        "160000, on, off, UTF8, read committed, off, refuses synchronous_commit",
        "160000, on, on, SQL_ASCII, read committed, off, refuses encoding of this database is SQL_ASCII",
        "160000, on, on, LATIN1, read committed, off, refuses LATIN1",
        "160000, on, on, UTF8, serializable, off, refuses default_transaction_isolation of our sessions is serializable",
        "160000, on, on, UTF8, read committed, on, warns jit"
    })
    void postgres(
            int version,
            String fsync,
            String synchronousCommit,
            String encoding,
            String isolation,
            String jit,
            String expected) {
        PostgresChecks.Settings settings =
                new PostgresChecks.Settings(version, fsync, synchronousCommit, encoding, isolation, jit, 97, 0);
        assertFound(PostgresChecks.check(settings, 25), expected);
    }

    @ParameterizedTest
    @CsvSource({
        "25, 0, passes",
        "24, 0, warns holds up to 25 connections; for 1 of them Postgres has 24",
        "97, 2, passes",
        "97, 3, warns for 4 of them Postgres has 97"
    })
    void connectionsOfPostgres(int connections, int others, String expected) {
        PostgresChecks.Settings settings =
                new PostgresChecks.Settings(160000, "on", "on", "UTF8", "read committed", "off", connections, others);
        assertFound(PostgresChecks.check(settings, 25), expected);
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
        assertFound(MachineChecks.checkSecret(file), expected);
    }

    @ParameterizedTest
    @CsvSource({"rw-------, passes", "r--r-----, passes", "rw-r--r--, warns chmod o-rw", "rw-----w-, warns chmod o-rw"})
    void aFileWithAPassword(String permissions, String expected) throws Exception {
        // Given
        Path file = Files.writeString(directory.resolve("url"), "redis://:hunter2@127.0.0.1:1");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        HongbaoConfig config = HongbaoConfig.of(
                Map.of("redis.url-file", file.toString(), "http.port", "0", "data.dir", directory.toString()));

        // Then
        assertFound(MachineChecks.beforeStart(config), expected);
    }

    @ParameterizedTest
    @CsvSource({"r--r--r--, passes", "rw-rw-rw-, warns chmod o-rw"})
    void aFileWithAPasswordThatAnEngineHasMounted(String permissions, String expected) throws Exception {
        Path file = Files.writeString(directory.resolve("url"), "redis://:hunter2@127.0.0.1:1");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        assertFound(MachineChecks.checkPrivate(file, directory.toAbsolutePath()), expected);
    }

    @Test
    void aSecretThatCanBeGuessed() throws Exception {
        Path file = Files.writeString(
                directory.resolve("secret"),
                "changeme".repeat(8).substring(0, 7).repeat(10));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertFound(MachineChecks.checkSecret(file), "refuses can be guessed");
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
        assertFound(MachineChecks.exposure(config), expected);
    }

    @Test
    void aCertificateNeedsNoProxy() throws Exception {
        // Given
        Path key = Files.writeString(directory.resolve("key"), "key");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
        HongbaoConfig config = HongbaoConfig.of(Map.of(
                "http.host", "0.0.0.0",
                "http.port", "0",
                "http.tls-certificate", key.toString(),
                "http.tls-key", key.toString(),
                "data.dir", directory.toString()));

        // Then
        assertFound(MachineChecks.exposure(config), "passes");
        assertFound(MachineChecks.beforeStart(config), "warns http.tls-key: everybody on this machine may read");
    }

    @ParameterizedTest
    @CsvSource({"http, management", "management, http"})
    void aTakenPort(String taken, String free) throws Exception {
        try (ServerSocket holder = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            // When
            List<Diagnosis> findings = MachineChecks.ports(HongbaoConfig.of(
                    Map.of(taken + ".port", Integer.toString(holder.getLocalPort()), free + ".port", "0")));

            // Then
            assertFound(findings, "refuses " + taken + ".port: cannot listen on 127.0.0.1:" + holder.getLocalPort());
            assertThat(findings.get(0).text()).contains("--" + taken + "-port");
        }
    }

    @Test
    void aDeclaredProxyIsBelievedToHaveTls() {
        HongbaoConfig config = HongbaoConfig.of(Map.of("http.host", "0.0.0.0", "http.trusted-proxies", "10.0.0.7"));
        assertFound(MachineChecks.exposure(config), "passes");
    }

    @ParameterizedTest
    @CsvSource({
        "0.0.0.0, off, '', passes",
        "0.0.0.0, on, '', warns http.proxy-protocol: listening on 0.0.0.0 without TLS",
        "0.0.0.0, on, pom.xml, passes",
        "127.0.0.1, on, '', passes"
    })
    void aProxyThatPassesTcpThroughHasNoTls(String host, String protocol, String file, String expected) {
        HongbaoConfig config = HongbaoConfig.of(Map.of(
                "http.host", host,
                "http.trusted-proxies", "10.0.0.7",
                "http.proxy-protocol", protocol,
                "http.tls-certificate", file,
                "http.tls-key", file));
        assertFound(MachineChecks.exposure(config), expected);
    }

    @Test
    void aHostThatIsNone() {
        List<Diagnosis> findings =
                MachineChecks.ports(HongbaoConfig.of(Map.of("http.host", "no-such-host.invalid", "http.port", "0")));
        assertThat(findings)
                .anyMatch(finding -> finding.refuses()
                        && finding.text().startsWith("http.host: no-such-host.invalid is no address of this machine"));
    }

    @ParameterizedTest
    @CsvSource({
        "https://issuer.invalid/keys, passes",
        "http://127.0.0.1:8081/keys, passes",
        "http://no-such-host.invalid/keys, warns without TLS"
    })
    void whereKeysComeFrom(String url, String expected) {
        HongbaoConfig config = HongbaoConfig.of(Map.of("token.algorithm", "RS256", "token.jwks-url", url));
        assertFound(MachineChecks.tokens(config.web().token()), expected);
    }

    @ParameterizedTest
    @CsvSource({
        "public-key-files, rw-r--r--, passes",
        "public-key-files, rw-rw-r--, warns token.public-key-files: others than its owner may write",
        "jwks-file, rw-r--r--, passes",
        "jwks-file, rw-r---w-, warns token.jwks-file: others than its owner may write"
    })
    void publicKeys(String option, String permissions, String expected) throws Exception {
        Path file = Files.writeString(directory.resolve("public"), "keys");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        HongbaoConfig config = HongbaoConfig.of(Map.of("token.algorithm", "RS256", "token." + option, file.toString()));
        assertFound(MachineChecks.tokens(config.web().token()), expected);
    }

    @Test
    void everySecretIsLookedAt() throws Exception {
        Path good = Files.writeString(directory.resolve("good"), SECRET);
        Path bad = Files.writeString(directory.resolve("bad"), SECRET);
        Files.setPosixFilePermissions(good, PosixFilePermissions.fromString("rw-------"));
        Files.setPosixFilePermissions(bad, PosixFilePermissions.fromString("rw--w--w-"));
        HongbaoConfig config = HongbaoConfig.of(
                Map.of("token.secret-file", good.toString(), "token.further-secret-files", good + "," + bad));

        assertFound(
                MachineChecks.tokens(config.web().token()),
                "refuses token.further-secret-files: others than its owner may write");
    }

    @Test
    void keysThatDifferFromAnotherServersAreFound() throws Exception {
        Path file = Files.writeString(directory.resolve("secret"), SECRET);
        HongbaoConfig own = HongbaoConfig.of(Map.of());
        HongbaoConfig shared = HongbaoConfig.of(Map.of("token.secret-file", file.toString()));
        HongbaoConfig issuer = HongbaoConfig.of(Map.of("token.algorithm", "RS256", "token.jwks-file", file.toString()));
        Set<Integer> ours = Set.of(0xa1, 0xa2);

        // This server shows only its own keys, and no other server shows any
        assertFound(Checks.ofKeys(own.web().token(), ours, List.of()), "passes");
        assertFound(Checks.ofKeys(shared.web().token(), ours, List.of(ours, ours)), "passes");
        // Servers whose keys are being changed have one in common
        assertFound(
                Checks.ofKeys(shared.web().token(), ours, List.of(ours, Set.of(0xa2, 0xb2))),
                "warns is a2+b2, ours is a1+a2");
        // Another secret
        assertFound(
                Checks.ofKeys(own.web().token(), ours, List.of(ours, Set.of(0xb2))),
                "refuses is b2, ours is a1+a2; it is not set");
        assertFound(
                Checks.ofKeys(shared.web().token(), ours, List.of(Set.of(0xa1), Set.of(0xb2))),
                "refuses is b2, ours is a1+a2; give both the same file");
        // An issuer may change all of its keys at once
        assertFound(Checks.ofKeys(issuer.web().token(), ours, List.of(Set.of(0xb2))), "warns is b2, ours is a1+a2");
    }

    @Test
    void everyReasonIsTold() {
        assertThatThrownBy(() -> Checks.enforce(
                        List.of(Check.FILE.found("one"), Check.CLEAR_TEXT.found("two"), Check.FILE.found("three"))))
                .isInstanceOf(Checks.StartRefusedException.class)
                .hasMessageContainingAll("one", "three")
                .hasMessageNotContaining("two");
    }
}
