package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.Option.ConfigText;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HongbaoTest {
    @TempDir
    Path dir;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final List<HongbaoConfig> started = new ArrayList<>();
    private Map<String, String> environment = Map.of();
    private RuntimeException fault = new IllegalStateException("no Redis here");

    private int run(String... args) {
        ServeCommand.Starter starter = config -> {
            started.add(config);
            throw fault;
        };
        return Hongbao.run(
                environment,
                dir.resolve("hongbao.yaml"),
                starter,
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                args);
    }

    @ParameterizedTest
    @CsvSource({
        "'', 8080",
        "serve, 8080",
        "--port 8081, 8081",
        "serve --port 8081, 8081",
        "--http-port=8081 --data-dir elsewhere, 8081",
        "--host 0.0.0.0 --port 0, 0"
    })
    void flagsWithoutACommandGoToServe(String line, int port) {
        // When
        run(line.isEmpty() ? new String[0] : line.split(" "));

        // Then
        assertThat(started).hasSize(1);
        assertThat(started.get(0).web().http().address().port()).isEqualTo(port);
    }

    @ParameterizedTest
    @CsvSource({
        "--prot 1, Did you mean --port?",
        "serve --htp-port=1, Did you mean --http-port?",
        "tokn --user alice, Did you mean token?",
        "--port 1 token, The command comes first: hongbao token",
        "token, Missing required option: '--user=USER'",
        "token --user .., a user id is 1 to 128 visible ASCII characters",
        "token --user alice --group a`b, a group id is 1 to 128 visible ASCII characters",
        "token --user alice --ttl 1, a duration is a whole number and a unit",
        "token --user alice --ttl 366d, --ttl must be 1s … 365d",
        "token --user alice --ttl 32d, --ttl is longer than token.max-life",
        "token --user alice --role king, Invalid value for option '--role'",
        "quarantine, Missing required parameter: 'ACTION'",
        "quarantine lst, Invalid value for positional parameter at index 0 (ACTION)",
        "quarantine list 5d3c1d0e-0c5f-4a4a-9c8c-1f6a2b3c4d5e, list takes no id",
        "quarantine replay, which one? list shows the ids",
        "quarantine void, which one? list shows the ids",
        "quarantine void 5d3c, Invalid value for positional parameter at index 1 (ID)",
        "quarantine void 5d3c1d0e-0c5f-4a4a-9c8c-1f6a2b3c4d5e more, Unmatched argument at index 3: 'more'",
        "webhooks, Missing required parameter: 'ACTION'",
        "webhooks tail --count 0, --count must be 1 or more",
        "quarantin list, Did you mean quarantine?",
        "--port 65536, http.port (flag --http-port): must be 0 … 65535",
        "--config none.yaml, none.yaml (file): does not exist"
    })
    void badUsageExitsWith2AndSaysWhatToDo(String line, String said) {
        // When
        int exitCode = run(line.split(" "));

        // Then
        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString()).startsWith("hongbao: ").contains(said).doesNotContain("\tat ");
        assertThat(out.toString()).isEmpty();
        assertThat(started).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "serve --help",
                "token --help",
                "quarantine --help",
                "check-config --help",
                "help serve",
                "--version"
            })
    void helpGoesToStdoutAndStartsNothing(String line) {
        assertThat(run(line.split(" "))).isZero();
        assertThat(out.toString()).containsIgnoringCase("hongbao");
        assertThat(err.toString()).isEmpty();
        assertThat(started).isEmpty();
    }

    @Test
    void aFailedStartIsOneLineWithoutPasswords() {
        // Given
        fault = new CompletionException(new IllegalStateException(
                "no answer from redis://:hunter2@10.0.0.1:6379", new IOException("Connection refused")));

        // When
        int exitCode = run();

        // Then
        assertThat(exitCode).isEqualTo(1);
        assertThat(err.toString())
                .isEqualTo("hongbao: could not start: no answer from redis://:***@10.0.0.1:6379: Connection refused"
                        + System.lineSeparator());
    }

    @Test
    void aFailedStartShowsItsStackTraceOnlyWithDebugAndNoPassword() {
        // Given
        fault = new IllegalStateException(
                "no Redis here", new IOException("Malformed escape pair: redis://:hunter2%@10.0.0.1:6379"));

        // When
        run("--log-level", "debug");

        // Then
        assertThat(err.toString())
                .contains("could not start: no Redis here", "\tat ", "Caused by: ")
                .doesNotContain("hunter2");
    }

    @Test
    void checkConfigShowsValuesWithOriginAndNoPassword() throws IOException {
        // Given
        Path file = Files.writeString(dir.resolve("hongbao.yaml"), "http: {port: 2}\nshards: 4");
        environment = Map.of("HONGBAO_REDIS_URL", "redis://:hunter2@redis:6379");

        // When
        int exitCode = run("check-config", "--port", "1");

        // Then
        assertThat(exitCode).isZero();
        assertThat(out.toString())
                .contains("http.port = 1  (flag --http-port)")
                .contains("redis.url = redis://:***@redis:6379  (environment variable HONGBAO_REDIS_URL)")
                .contains("shards = 4  (" + file + " line 2)")
                .contains("log.level = info  (default)")
                .doesNotContain("hunter2");
    }

    @Test
    void rolesPrintsTheSqlOfTheTwoRoles() {
        // When
        run("roles");

        // Then
        assertThat(out.toString())
                .contains("create role hongbao_owner", "create role hongbao_app", "create database hongbao owner");
    }

    @Test
    void aSectionOfTheRunbookIsReadWithoutItsTags() {
        assertThat(DoctorCommand.section(
                        "<h2 id=\"a\">A</h2>\n"
                                + "<p>No.</p><h2 id=\"b\">B</h2>\n"
                                + "<p><b>Do.</b> Start <code>&lt;it&gt;</code> &amp; wait.</p>\n"
                                + "<h2 id=\"c\">C</h2>",
                        "b"))
                .isEqualTo("  Do. Start <it> & wait.\n");
        assertThat(DoctorCommand.section("<h2 id=\"a\">A</h2>", "b")).isEmpty();
    }

    @Test
    void defaultConfigPrintsTheFileOrTheTable() {
        // When
        run("default-config");
        run("default-config", "--markdown");

        // Then
        assertThat(out.toString()).isEqualTo(ConfigText.defaultYaml() + ConfigText.markdownTable());
    }

    @Test
    void tokenPrintsATokenSignedWithTheKeyOfTheDataDirectory() {
        // When
        int exitCode =
                run("token", "--data-dir", dir.toString(), "--user", "alice", "--group", "a,b", "--group", "-100");

        // Then
        assertThat(exitCode).isZero();
        String[] parts = out.toString().strip().split("\\.");
        String claims = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8);
        assertThat(parts).hasSize(3);
        assertThat(claims).contains("\"sub\":\"alice\"", "[\"a,b\",\"-100\"]").doesNotContain("\"iss\"");
        assertThat(dir.resolve("token.key")).exists();
    }

    @ParameterizedTest
    @ValueSource(strings = {"reconcile", "token --user alice", "quarantine list", "webhooks tail --count 1"})
    void aMistypedDataDirectoryIsRefusedAndNotMade(String line) {
        // Given
        Path mistyped = dir.resolve("dtaa");

        // When
        int exitCode = run((line + " --data-dir " + mistyped).split(" "));

        // Then
        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString()).contains("data.dir", mistyped.toString(), "--data-dir");
        assertThat(out.toString()).isEmpty();
        assertThat(mistyped).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource({
        "--redis-url redis://127.0.0.1:1, no Postgres data",
        "--postgres-url postgresql://u:p@127.0.0.1:1/d, no Redis data"
    })
    void aStoreThatWouldBeEmbeddedNeedsItsData(String flags, String said) throws IOException {
        // Given a directory in which a server never ran
        Files.writeString(dir.resolve("token.key"), "");

        // When
        int exitCode = run(("reconcile --data-dir " + dir + " " + flags).split(" "));

        // Then
        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString()).contains(said);
        assertThat(dir).isDirectoryContaining("glob:**token.key").isDirectoryNotContaining("glob:**lock");
    }

    @Test
    void reconcileThatCannotLookSaysSoAndIsNoViolation() {
        int exitCode = run(
                "reconcile", "--redis-url", "redis://127.0.0.1:1", "--postgres-url", "postgres://u:p@127.0.0.1:1/none");

        assertThat(exitCode).isEqualTo(3);
        assertThat(err.toString()).contains("the books could not be checked");
    }

    @Test
    void tokenNeedsAPrivateKey() throws IOException {
        // Given
        Path publicKey = Files.writeString(dir.resolve("public.pem"), "-");

        // When
        int exitCode = run(
                "token",
                "--user",
                "alice",
                "--token-algorithm",
                "RS256",
                "--token-public-key-files",
                publicKey.toString());

        // Then
        assertThat(exitCode).isEqualTo(1);
        assertThat(err.toString()).contains("RS256", "only the issuer has the private key");
        assertThat(out.toString()).isEmpty();
    }
}
