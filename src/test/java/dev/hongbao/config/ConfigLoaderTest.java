package dev.hongbao.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.hongbao.config.HongbaoConfig.ConfigException;
import dev.hongbao.config.WebConfig.HttpConfig;
import dev.hongbao.config.WebConfig.ManagementConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigLoaderTest {
    @TempDir
    Path dir;

    @Test
    void flagsBeatEnvironmentBeatsFileBeatsDefault() throws IOException {
        // Given
        Path file = write("""
            http:
              port: 1001
              host: file.example
              drain-delay: 2s
            """);
        Map<String, String> environment = Map.of("HONGBAO_HTTP_PORT", "1002", "HONGBAO_HTTP_HOST", "env.example");
        Map<String, String> flags = Map.of("http.port", "1003");

        // When
        HttpConfig http = load(flags, environment, file).config().web().http();

        // Then
        assertThat(http.address().port()).isEqualTo(1003);
        assertThat(http.address().host()).isEqualTo("env.example");
        assertThat(http.drainDelay()).isEqualTo(Duration.ofSeconds(2));
        assertThat(http.idleTimeout()).isEqualTo(Duration.ofSeconds(60));
    }

    @Test
    void aConstantIsNoOptionAndCodeChangesItWithinItsRange() {
        // When
        ConfigException.Fault fault = onlyFault(Map.of("claim.batch-size", "1"), Map.of(), null);

        // Then
        assertThat(fault.problem()).startsWith("is no option");
        assertThat(HongbaoConfig.of(Map.of("claim.batch-size", "1"))
                        .domain()
                        .claim()
                        .batchSize())
                .isEqualTo(1);
        assertThatThrownBy(() -> HongbaoConfig.of(Map.of("claim.batch-size", "257")))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("must be 1 … 256 claims, not \"257\"");
    }

    @Test
    void namesAreUnique() {
        // Given
        List<String> flags = Option.ALL.stream()
                .flatMap(option -> Stream.concat(Stream.of(option.flag()), option.shortFlags().stream()))
                .toList();
        List<String> variables =
                Option.ALL.stream().map(Option::environmentName).toList();

        // Then
        assertThat(flags).doesNotHaveDuplicates().doesNotContain("--config");
        assertThat(variables).doesNotHaveDuplicates().doesNotContain("HONGBAO_CONFIG");
    }

    static Stream<Option<?>> options() {
        return Option.ALL.stream();
    }

    /** Text that no option takes: too long, of no type, with a character no path has. */
    private static final String BAD = "\0" + "x".repeat(300) + " ://";

    @ParameterizedTest
    @MethodSource("options")
    void aBadValueIsNamedWithPathOriginAndWhatIsAllowed(Option<?> option) throws IOException {
        // Given
        Map<String, String> flags = Map.of(option.path(), BAD);
        Map<String, String> environment = Map.of(option.environmentName(), BAD);

        // When
        ConfigException.Fault byFlag = onlyFault(flags, Map.of(), null);
        ConfigException.Fault byEnvironment = onlyFault(Map.of(), environment, null);

        // Then
        assertThat(byFlag.path()).isEqualTo(option.path());
        assertThat(byFlag.origin()).isEqualTo("flag " + option.flag());
        assertThat(byFlag.problem()).contains("must be " + option.allowed());
        assertThat(byEnvironment.path()).isEqualTo(option.path());
        assertThat(byEnvironment.origin()).isEqualTo("environment variable " + option.environmentName());
    }

    static Stream<List<String>> outside() {
        return Stream.of(
                List.of("http.port", "65536"),
                List.of("http.port", "-1"),
                List.of("http.port", "080"),
                List.of("http.port", "8080.5"),
                List.of("http.port", "99999999999"),
                List.of("http.port", ""),
                List.of("http.idle-timeout", "0s"),
                List.of("http.idle-timeout", "60"),
                List.of("postgres.pool-size", "1"),
                List.of("postgres.pool-size", "201"),
                List.of("shards", "257"),
                List.of("idempotency.retention", "23h"),
                List.of("log.level", "loud"),
                List.of("feed.retention", "59s"),
                List.of("http.origins", "*"),
                List.of("http.origins", "chat.example.com"),
                List.of("http.origins", "https://chat.example.com/"),
                List.of("http.origins", "https://good.example,https://*.example"),
                List.of("token.algorithm", "none"),
                List.of("token.secret-file", "/no/such/file"),
                List.of("token.further-secret-files", "/no/such/file"),
                List.of("token.public-key-files", "/no/such/file"),
                List.of("token.jwks-url", "issuer.example/keys"),
                List.of("token.jwks-url", "file:///etc/passwd"),
                List.of("token.jwks-url", "https://me@issuer.example/keys"),
                List.of("token.jwks-url", "https://issuer.example:65536/keys"),
                List.of("redis.url", "http://localhost"),
                List.of("redis.url", "redis://"),
                List.of("redis.url", "redis://h1:1,h2:2"),
                List.of("redis.url", "redis+cluster://"),
                List.of("redis.url", "redis+cluster://h1:1/1"),
                List.of("redis.url", "redis+cluster://h1:1,"),
                List.of("redis.url", "redis+sentinel://h1:1"),
                List.of("redis.url", "redis+sentinel://h1:1/two/names"),
                List.of("postgres.url", "jdbc:postgresql://localhost/db"),
                List.of("postgres.url", "postgresql://localhost/db"),
                List.of("redis.url", "redis://stack_redis:6379"),
                List.of("redis.url", "redis+sentinel://good,stack_redis/master"),
                List.of("redis.url", "redis://h:65536"),
                List.of("redis.url", "redis+cluster://h1:1,h2:0"),
                List.of("postgres.url", "postgresql://u:p@h:99999/db"),
                List.of("redis.url", "redis://u:a+b@h"),
                List.of("redis.url", "redis://u:50%@h"),
                List.of("redis.url", "redis+cluster://u:%zz@h1,h2"),
                List.of("redis.url", "rediss+sentinel://u:a^b@h/m"),
                List.of("postgres.url", "postgresql://u:%zz@h/db"),
                List.of("postgres.url", "postgresql://u:p@h/db%2"),
                List.of("postgres.url", "postgresql://u:p@h/db?sslmode=prefer&application_name=50%"),
                List.of("postgres.url", "postgresql://u:p@localhost/db?host=other"),
                List.of("postgres.url", "postgresql://u:p@localhost/db?sslmode=prefer&options=-c%20jit%3Don"),
                List.of("postgres.url", "postgresql://u:p@localhost/db?search_path=a,b"),
                List.of("postgres.url", "postgresql://u:p@localhost/db?search_path=a&currentSchema=b"),
                List.of("postgres.url", "postgresql://u:p@localhost/db?sslmode=yes"));
    }

    @ParameterizedTest
    @MethodSource("outside")
    void aValueOutsideItsRangeIsRefused(List<String> setting) {
        // When
        ConfigException.Fault fault = onlyFault(Map.of(setting.get(0), setting.get(1)), Map.of(), null);

        // Then
        assertThat(fault.path()).isEqualTo(setting.get(0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a%2Bb", "50%25", "%5e%7B%22", "-._~!$&'()*,;=:"})
    void aPasswordThatTheClientOfRedisReadsAsItIsIsAllowed(String password) {
        for (String url : List.of("redis://u:" + password + "@h", "redis+sentinel://:" + password + "@h1,h2:1/m")) {
            assertThat(HongbaoConfig.of(Map.of("redis.url", url))
                            .engine()
                            .redis()
                            .url())
                    .isEqualTo(new SecretUrl(url));
        }
    }

    @Test
    void allFaultsAreListedAtOnce() throws IOException {
        // Given
        Path file = write("http:\n  prot: 1\n  port: many\n");

        // When
        ConfigException refused =
                refused(Map.of("claim.max-waiting", "0"), Map.of("HONGBAO_SHARDS", "x", "HONGBAO_SHARD", "1"), file);

        // Then
        assertThat(refused.faults())
                .extracting(ConfigException.Fault::path)
                .containsExactlyInAnyOrder("http.prot", "http.port", "claim.max-waiting", "shards", "HONGBAO_SHARD");
        assertThat(refused.getMessage())
                .contains("5 faults", "line 2", "did you mean http.port?", "did you mean HONGBAO_SHARDS?");
    }

    @Test
    void testVariablesAndForeignOnesAreLeftAlone() {
        // Given
        Map<String, String> environment = Map.of("HONGBAO_TEST_REDIS", "x", "HOME", "/", "HONGBAOX", "1");

        // Then
        assertThat(load(Map.of(), environment, null).config()).isEqualTo(HongbaoConfig.of(Map.of()));
    }

    @Test
    void aServiceLinkOfKubernetesIsExplained() {
        // When
        ConfigException.Fault fault = onlyFault(Map.of(), Map.of("HONGBAO_PORT", "tcp://10.0.0.1:80"), null);

        // Then
        assertThat(fault.problem()).contains("enableServiceLinks: false");
    }

    @Test
    void theManagementPortIsFreeTooUnlessItIsSet() {
        // Given
        Map<String, String> free = Map.of("http.port", "0");
        Map<String, String> both = Map.of("http.port", "0", "management.port", "9090");

        // Then
        assertThat(HongbaoConfig.of(free).web().management().address().port()).isZero();
        assertThat(HongbaoConfig.of(both).web().management().address().port()).isEqualTo(9090);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        http.port=9090                                   | management.port, must differ from http.port
        packet.max-expiry=1h                             | packet.default-expiry, must be at most packet.max-expiry
        postgres.owner-url=postgresql://o:p@localhost/db | postgres.owner-url, needs postgres.url
        redis.tls-authority=pom.xml                      | redis.tls-authority, is for a redis.url of rediss://
        postgres.tls-authority=pom.xml                   | postgres.tls-authority, sslmode=verify-full
        console.oidc-issuer=https://id.example.com       | console.oidc-client-id, give both or none
        console.oidc-client-id=console                   | console.oidc-client-id, give both or none
        http.proxy-protocol=on                           | http.proxy-protocol, needs http.trusted-proxies
        http.tls-certificate=pom.xml                     | http.tls-certificate, needs http.tls-key
        http.tls-key=pom.xml                             | http.tls-key, needs http.tls-certificate
        http.tls-client-authority=pom.xml                | http.tls-client-authority, needs http.tls-certificate
        management.tls-key=pom.xml                       | management.tls-key, needs management.tls-certificate
        token.algorithm=RS256                            | token.algorithm, RS256 needs token.public-key-files
        token.jwks-file=pom.xml                          | token.jwks-file, RS256 and ES256 only
        token.jwks-url=https://issuer.example/keys       | token.jwks-url, RS256 and ES256 only
        token.algorithm=RS256 token.jwks-file=pom.xml token.further-secret-files=pom.xml | token.further-secret-files, HS256 only
        token.algorithm=ES256 token.public-key-files=pom.xml token.secret-file=pom.xml   | token.secret-file, HS256 only
        """)
    void optionsThatContradictEachOtherAreRefused(String options, String said) {
        // Given
        Map<String, String> flags = Stream.of(options.split(" "))
                .map(option -> option.split("="))
                .collect(Collectors.toMap(option -> option[0], option -> option[1]));

        // Then
        assertThat(onlyFault(flags, Map.of(), null).toString()).contains(said.split(", "));
    }

    @Test
    void theConsolesOpenidProviderIsNobodyUnlessItIsNamed() {
        // Given
        Map<String, String> named =
                Map.of("console.oidc-issuer", "https://id.example.com", "console.oidc-client-id", "console");

        // Then
        assertThat(HongbaoConfig.of(Map.of()).web().management().oidc()).isNull();
        assertThat(HongbaoConfig.of(named).web().management().oidc())
                .isEqualTo(new ManagementConfig.Oidc("https://id.example.com", "console", "openid"));
    }

    @Test
    void theFileIsTheNamedOneThenTheVariablesThenTheDefaultOne() throws IOException {
        // Given
        Path named = write("shards: 1");
        Path variable = Files.writeString(dir.resolve("variable.yaml"), "shards: 2");
        Path byDefault = Files.writeString(dir.resolve("default.yaml"), "shards: 3");
        Map<String, String> environment = Map.of("HONGBAO_CONFIG", variable.toString());

        // Then
        assertThat(shards(new ConfigLoader.Sources(Map.of(), environment, named, byDefault)))
                .isEqualTo(1);
        assertThat(shards(new ConfigLoader.Sources(Map.of(), environment, null, byDefault)))
                .isEqualTo(2);
        assertThat(shards(new ConfigLoader.Sources(Map.of(), Map.of(), null, byDefault)))
                .isEqualTo(3);
        assertThat(shards(new ConfigLoader.Sources(Map.of(), Map.of(), null, dir.resolve("none.yaml"))))
                .isEqualTo(8);
        assertThat(onlyFault(Map.of(), Map.of(), dir.resolve("none.yaml")).problem())
                .isEqualTo("does not exist");
    }

    private static int shards(ConfigLoader.Sources sources) {
        return ConfigLoader.load(sources).config().engine().journal().shards();
    }

    private Path write(String yaml) throws IOException {
        return Files.writeString(dir.resolve("hongbao.yaml"), yaml);
    }

    private static ConfigLoader.Loaded load(Map<String, String> flags, Map<String, String> environment, Path file) {
        return ConfigLoader.load(new ConfigLoader.Sources(flags, environment, file, null));
    }

    private static ConfigException refused(Map<String, String> flags, Map<String, String> environment, Path file) {
        return catchThrowableOfType(ConfigException.class, () -> load(flags, environment, file));
    }

    private static ConfigException.Fault onlyFault(
            Map<String, String> flags, Map<String, String> environment, Path file) {
        List<ConfigException.Fault> faults = refused(flags, environment, file).faults();
        assertThat(faults).hasSize(1);
        return faults.get(0);
    }
}
