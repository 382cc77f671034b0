package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.ConfigLoader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FirstStepsTest {
    @TempDir
    Path dir;

    private static ConfigLoader.Loaded load(Map<String, String> flags) {
        return ConfigLoader.load(new ConfigLoader.Sources(flags, Map.of(), null, null));
    }

    @Test
    void theFirstLineEndsInTheAddress() {
        // Given
        FirstSteps steps = new FirstSteps(load(Map.of("http.port", "0")), "java -jar x.jar", 41234, 41235);

        // Then
        assertThat(steps.text().lines().findFirst().orElseThrow()).endsWith(" ready http://127.0.0.1:41234");
        assertThat(steps.ready().lines()).hasSize(1);
        assertThat(steps.ready()).contains("http://127.0.0.1:41235/metrics").endsWith(" ready http://127.0.0.1:41234");
        assertThat(steps.text()).contains("URL=http://127.0.0.1:41234\n", "# The console: http://127.0.0.1:41235/\n");
    }

    @ParameterizedTest
    @CsvSource({
        "0.0.0.0, http://127.0.0.1:1",
        "::, http://127.0.0.1:1",
        "::1, http://[::1]:1",
        "hongbao.example, http://hongbao.example:1"
    })
    void theAddressIsOneThatAClientCanUse(String host, String url) {
        assertThat(new FirstSteps(load(Map.of("http.host", host)), "java", 1, 2).url())
                .isEqualTo(url);
    }

    @Test
    void theTokenCommandFindsTheKeyOfThisServer() {
        // Given
        ConfigLoader.Loaded loaded = load(Map.of("data.dir", "/tmp/my data", "token.issuer", "me"));

        // Then
        assertThat(new FirstSteps(loaded, "java -jar x.jar", 1, 2).text())
                .contains("$(java -jar x.jar token --data-dir '/tmp/my data' --token-issuer me --user alice --group"
                        + " family)");
        assertThat(new FirstSteps(load(Map.of()), "java -jar x.jar", 1, 2).text())
                .contains("ALICE=$(java -jar x.jar token --user alice --group family)");
    }

    @Test
    void aServerThatCanNotSignShowsNoTokenCommand() throws IOException {
        // Given
        String key = Files.writeString(dir.resolve("key.pem"), "-").toString();
        ConfigLoader.Loaded loaded = load(Map.of("token.algorithm", "ES256", "token.public-key-files", key));

        // Then
        assertThat(new FirstSteps(loaded, "java", 1, 2).text())
                .contains("your own issuer (ES256)")
                .doesNotContain("token --user");
    }

    @Test
    void aShellCanReadTheLines() throws IOException, InterruptedException {
        // Given
        ConfigLoader.Loaded loaded = load(Map.of("data.dir", "it's here"));
        Path script = Files.writeString(
                dir.resolve("steps.sh"),
                new FirstSteps(loaded, "echo", 1, 2)
                        .text()
                        .lines()
                        .skip(1)
                        .collect(java.util.stream.Collectors.joining("\n")));
        Path said = dir.resolve("said");

        // When: curl says what it is given
        Process bash = new ProcessBuilder(
                        "bash",
                        "-euo",
                        "pipefail",
                        "-c",
                        "curl() { printf '%s\\n' \"$@\" '{\"id\":\"p1\",\"sender\":{\"id\":\"x\"}}'; }; . " + script
                                + "; echo $ALICE")
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();

        // Then
        assertThat(bash.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(said)
                .content()
                .contains("http://127.0.0.1:1/v1/accounts/alice/deposits")
                .contains("Authorization: Bearer token --data-dir it's here --user backend --role service")
                .contains("{\"asset\":\"CNY\",\"amount\":10000}")
                .contains("http://127.0.0.1:1/v1/packets/p1/claims")
                .endsWith("token --data-dir it's here --user alice --group family\n");
        assertThat(bash.exitValue()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "target/hongbao.jar, java -jar target/hongbao.jar",
        "/opt/my apps/hongbao.jar, java -jar '/opt/my apps/hongbao.jar'",
        "target/classes:/m2/a.jar, java -jar target/hongbao.jar",
        "/m2/b.jar:/m2/a.jar, java -jar target/hongbao.jar"
    })
    void theJarIsNamedAsItWasStarted(String classPath, String command) {
        assertThat(FirstSteps.program(classPath)).isEqualTo(command);
    }
}
