package dev.hongbao.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.HongbaoConfig.ConfigException;
import dev.hongbao.config.Option.ConfigText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigTextTest {
    @TempDir
    Path dir;

    @Test
    void theDefaultFileLoadsBackToTheDefaultsAsItIsAndUncommented() throws IOException {
        // Given
        String commented = ConfigText.defaultYaml();
        String uncommented = commented.replaceAll("(?m)^( *)#(\\S)", "$1$2");

        // When
        ConfigLoader.Loaded asItIs = load(commented);
        ConfigLoader.Loaded inForce = load(uncommented);

        // Then
        assertThat(asItIs.config()).isEqualTo(HongbaoConfig.of(Map.of()));
        assertThat(inForce.config()).isEqualTo(HongbaoConfig.of(Map.of()));
        assertThat(asItIs.effective())
                .allMatch(each -> each.origin().equals("default"))
                .allMatch(each -> each.text().equals(each.option().defaultText()));
        assertThat(inForce.effective()).allMatch(each -> each.origin().contains(" line ") && each.isDefault());
    }

    @Test
    void theFileInTheRepositoryIsTheDefaultFile() throws IOException {
        assertThat(Files.readString(Path.of("conf", "hongbao.yaml"))).isEqualTo(ConfigText.defaultYaml());
    }

    @Test
    void theTableHasARowForEveryOption() {
        // When
        String[] lines = ConfigText.markdownTable().split("\n");

        // Then
        assertThat(lines).hasSize(Option.ALL.size() + 2);
        assertThat(lines)
                .contains("| `http.port` | `8080` | integer: 0 … 65535 | Port of the API; 0 takes a free one. |");
    }

    @Test
    void noPasswordIsEverShown() {
        // Given
        Map<String, String> flags = Map.of(
                "redis.url", "redis://:hunter2@redis.example:6379/0",
                "postgres.url", "postgresql://app:hunter2@db.example/hongbao?sslmode=require&sslpassword=hunter2",
                "postgres.owner-url", "postgresql://owner:hunter2@db.example/hongbao");

        // When
        ConfigLoader.Loaded loaded = ConfigLoader.load(new ConfigLoader.Sources(flags, Map.of(), null, null));

        // Then
        assertThat(ConfigText.effective(loaded))
                .doesNotContain("hunter2")
                .contains("redis.url = redis://:***@redis.example:6379/0  (flag --redis-url)")
                .contains("postgresql://app:***@db.example/hongbao?sslmode=require&sslpassword=***");
        assertThat(loaded.config().toString()).doesNotContain("hunter2");
        assertThat(loaded.toString()).doesNotContain("hunter2");
    }

    @ParameterizedTest
    @CsvSource({
        "redis.url, rdis://:hunter2@host",
        "postgres.url, postgresql://u:hunter2@ho st/db",
        "postgres.url, hunter2"
    })
    void noPasswordIsShownInAFault(String path, String value) {
        assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> HongbaoConfig.of(Map.of(path, value))))
                .isInstanceOf(ConfigException.class)
                .message()
                .contains(path)
                .doesNotContain("hunter2");
    }

    @ParameterizedTest
    @CsvSource({
        "redis://word@host, redis://***@host",
        "postgresql://user@host/db, postgresql://user@host/db",
        "redis://host:6379?password=x, redis://host:6379?password=***",
        "postgresql://u:p@s/s@host/db, postgresql://u:***@host/db",
        "redis://host:6379/1, redis://host:6379/1",
        "redis+cluster://word@h1:1;h2:2, redis+cluster://***@h1:1;h2:2",
        "redis+sentinel://u:p@h1:1;h2:2/m, redis+sentinel://u:***@h1:1;h2:2/m",
        "could not reach redis://u:p@h:1 at all, could not reach redis://u:***@h:1 at all"
    })
    void passwordsAreHiddenInAnyText(String text, String redacted) {
        assertThat(SecretUrl.redact(text)).isEqualTo(redacted);
    }

    @ParameterizedTest
    @CsvSource({
        "500ms, 500ms",
        "1000ms, 1s",
        "60s, 1m",
        "24h, 24h",
        "1d, 24h",
        "48h, 48h",
        "72h, 3d",
        "0s, 0s",
        "90m, 90m",
        "1D, 24h"
    })
    void durationsReadAndPrint(String text, String printed) {
        assertThat(Option.printDuration(Option.parseDuration(text))).isEqualTo(printed);
    }

    private ConfigLoader.Loaded load(String yaml) throws IOException {
        Path file = Files.writeString(dir.resolve("file.yaml"), yaml);
        return ConfigLoader.load(new ConfigLoader.Sources(Map.of(), Map.of(), file, null));
    }
}
