package dev.hongbao.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.ConfigLoader.ConfigFile;
import dev.hongbao.config.HongbaoConfig.ConfigException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigFileTest {
    @TempDir
    Path dir;

    private final List<ConfigException.Fault> faults = new ArrayList<>();
    private Path file;

    @BeforeEach
    void setUp() {
        file = dir.resolve("hongbao.yaml");
    }

    @Test
    void valuesAreTheTextThatStandsThere() throws IOException {
        // When
        Map<String, ConfigLoader.Setting> settings = read("""
                http: {port: "8080", host: no}
                packet.max-count: 017
                token:
                  public-key-files: [a.pem, b.pem]
                  issuer:
                redis:
                """);

        // Then
        assertThat(faults).isEmpty();
        assertThat(settings).hasSize(5);
        assertThat(settings.get("http.port")).isEqualTo(new ConfigLoader.Setting("8080", file + " line 1"));
        assertThat(settings.get("http.host").text()).isEqualTo("no");
        assertThat(settings.get("packet.max-count").text()).isEqualTo("017");
        assertThat(settings.get("token.public-key-files").text()).isEqualTo("a.pem,b.pem");
        assertThat(settings.get("token.issuer").text()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "# only a comment\n", "---\n", "http:\n"})
    void aFileWithoutOptionsSetsNothing(String yaml) throws IOException {
        assertThat(read(yaml)).isEmpty();
        assertThat(faults).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http:\n  port: 1\n  port: 2\n",
                "http:\n  port: 1\nhttp:\n  host: x\n",
                "http:\n  port: 1\nhttp.port: 2\n"
            })
    void aKeyThatStandsTwiceIsRefusedWithItsLine(String yaml) throws IOException {
        // When
        read(yaml);

        // Then
        assertThat(faults).hasSize(1);
        assertThat(faults.get(0).problem()).contains("second time");
        assertThat(faults.get(0).origin()).endsWith(" line 3");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http: [1, 2",
                "just words",
                "- a\n- b\n",
                "a: 1\n---\nb: 2\n",
                "http:\n  port: [1, 2]\n",
                "token:\n  public-key-files: [[a]]\n",
                "? [a, b]\n: 1\n",
                "a: &x [1]\nb: *x\n",
                "a: {b: {c: {d: {e: {f: {g: {h: {i: {j: {k: {l: 1}}}}}}}}}}}\n",
                "a: &x {b: *x}\n",
                "http:\n  host: !!javax.script.ScriptEngineManager x\n"
            })
    void whatIsNoPlainConfigurationIsAFaultAndNotACrash(String yaml) throws IOException {
        // When
        read(yaml);

        // Then
        assertThat(faults).hasSize(1);
    }

    @Test
    void aFileThatIsTooLargeOrNotUtf8IsRefused() throws IOException {
        // Given
        Files.writeString(file, "#".repeat(ConfigFile.MAX_BYTES + 1));
        Path latin = Files.write(dir.resolve("latin.yaml"), "http: é".getBytes(StandardCharsets.ISO_8859_1));

        // When
        ConfigFile.read(file, faults);
        ConfigFile.read(latin, faults);

        // Then
        assertThat(faults)
                .extracting(ConfigException.Fault::problem)
                .containsExactly("cannot be read: more than 262144 bytes", "is not UTF-8");
    }

    private Map<String, ConfigLoader.Setting> read(String yaml) throws IOException {
        Files.writeString(file, yaml);
        return ConfigFile.read(file, faults);
    }
}
