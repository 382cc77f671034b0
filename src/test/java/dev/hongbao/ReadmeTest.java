package dev.hongbao;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.config.ConfigText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the README says of the code is so. */
class ReadmeTest {
    private static final Pattern TEST_CLASS = Pattern.compile("`(\\w+(?:Test|IT))`");

    private final String readme = read();

    private static String read() {
        try {
            return Files.readString(Path.of("README.md"));
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    @Test
    void theTableOfOptionsIsTheOneTheProgramPrints() {
        assertThat(readme).contains(ConfigText.markdownTable().strip());
    }

    @Test
    void everyTestItNamesIsThere() throws IOException {
        Matcher named = TEST_CLASS.matcher(readme);
        try (Stream<Path> sources = Files.walk(Path.of("src/test/java"))) {
            var classes = sources.map(file -> file.getFileName().toString()).toList();
            while (named.find()) {
                assertThat(classes).contains(named.group(1) + ".java");
            }
        }
    }
}
