package dev.hongbao.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.hongbao.config.HongbaoConfig.ConfigException;
import dev.hongbao.config.Option.ConfigText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A password may stand in a file of its own. */
class SecretFilesTest {
    private static final Map<String, String> GOOD = Map.of(
            "redis.url", "redis://:hunter2@redis:6379",
            "postgres.url", "postgresql://app:hunter2@db/hongbao",
            "postgres.owner-url", "postgresql://owner:hunter2@db/hongbao",
            "token.jwks-url", "https://issuer.example/keys?key=hunter2");

    @TempDir
    Path dir;

    @ParameterizedTest
    @CsvSource({"redis.url", "postgres.url", "postgres.owner-url"})
    void whatTheFileHoldsIsTheOption(String option) throws IOException {
        // Given everything else that has to be there, and the option in a file, with the newline that editors write
        Path file = write(GOOD.get(option) + "\n");
        Map<String, String> flags = new HashMap<>(GOOD);
        flags.remove(option);
        flags.put(option + "-file", file.toString());
        flags.put("token.algorithm", "RS256");

        // When
        ConfigLoader.Loaded loaded = load(flags);

        // Then
        HongbaoConfig config = loaded.config();
        SecretUrl url = Map.of(
                        "redis.url", config.engine().redis().url(),
                        "postgres.url", config.engine().postgres().url(),
                        "postgres.owner-url", config.engine().postgres().ownerUrl())
                .get(option);
        assertThat(url).isEqualTo(new SecretUrl(GOOD.get(option), file));
        assertThat(ConfigText.effective(loaded))
                .contains(option + " = " + url.redacted() + "  (file " + file + ")")
                .doesNotContain("hunter2");
        assertThat(loaded.toString()).doesNotContain("hunter2");
    }

    @Test
    void theOptionAndItsFileTogetherAreRefusedWhereverTheyCameFrom() throws IOException {
        // Given
        Path file = write(GOOD.get("redis.url"));
        ConfigLoader.Sources both = new ConfigLoader.Sources(
                Map.of("redis.url", "redis://elsewhere"),
                Map.of("HONGBAO_REDIS_URL_FILE", file.toString()),
                null,
                null);

        // When
        ConfigException refused = catchThrowableOfType(ConfigException.class, () -> ConfigLoader.load(both));

        // Then
        assertThat(refused.faults())
                .containsExactly(new ConfigException.Fault(
                        "redis.url-file",
                        "environment variable HONGBAO_REDIS_URL_FILE",
                        "names a file, and redis.url is given as well (flag --redis-url): give one of the two"));
    }

    @Test
    void anEmptyOneOfThemIsNotGiven() throws IOException {
        // Given
        Path file = write(GOOD.get("redis.url"));

        // Then
        assertThat(load(Map.of("redis.url", "", "redis.url-file", file.toString()))
                        .config()
                        .engine()
                        .redis()
                        .url())
                .isNotNull();
        assertThat(load(Map.of("redis.url", "redis://h", "redis.url-file", ""))
                        .config()
                        .engine()
                        .redis()
                        .url())
                .isEqualTo(new SecretUrl("redis://h"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"hunter2", "redis://:hunter2@a\nredis://:hunter2@b", "http://:hunter2@redis"})
    void whatItHoldsIsCheckedAndNotShown(String content) throws IOException {
        // Given
        Path file = write(content);

        // When
        ConfigException refused = refused(file);

        // Then
        assertThat(refused.faults()).singleElement().satisfies(fault -> {
            assertThat(fault.path()).isEqualTo("redis.url");
            assertThat(fault.origin()).isEqualTo("file " + file);
        });
        assertThat(refused.getMessage()).doesNotContain("hunter2");
    }

    @Test
    void aFileThatCannotBeOneIsNamed() throws IOException {
        assertThat(refused(write(" \n")).getMessage()).contains("redis.url-file", "is empty");
        assertThat(refused(write("x".repeat(SecretFiles.MAX_BYTES + 1))).getMessage())
                .contains("redis.url-file", "more than " + SecretFiles.MAX_BYTES);
        assertThat(refused(Files.write(dir.resolve("latin"), new byte[] {(byte) 0xe9}))
                        .getMessage())
                .contains("redis.url-file", "not UTF-8");
        assertThat(refused(dir.resolve("none")).getMessage()).contains("redis.url-file", "a readable file");
        assertThat(refused(dir).getMessage()).contains("redis.url-file", "a readable file");
    }

    private Path write(String text) throws IOException {
        return Files.writeString(dir.resolve("secret"), text);
    }

    private static ConfigLoader.Loaded load(Map<String, String> flags) {
        return ConfigLoader.load(new ConfigLoader.Sources(flags, Map.of(), null, null));
    }

    private static ConfigException refused(Path file) {
        return catchThrowableOfType(ConfigException.class, () -> load(Map.of("redis.url-file", file.toString())));
    }
}
