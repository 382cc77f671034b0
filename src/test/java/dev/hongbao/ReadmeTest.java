package dev.hongbao;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.Option.ConfigText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The README says of the code only what holds. Its links and the guide behind them are held by GuideTest. */
class ReadmeTest {
    /** A stranger reads it in three minutes. */
    private static final int MAX_LINES = 110;

    private static final Pattern OPTION = Pattern.compile("(?m)^\\| `([a-z.-]+)` \\| (.*) \\| (.*) \\|$");

    /** The last column is what it does, in both tables. */
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z.-]+)` \\| (.*?) \\| .* \\| (.*) \\|$");

    private final String readme = read();

    private static String read() {
        try {
            return Files.readString(Path.of("README.md"));
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    @Test
    void itIsShort() {
        assertThat(readme.lines().count()).isLessThanOrEqualTo(MAX_LINES);
    }

    @Test
    void itsOptionsAreThoseTheProgramPrints() {
        // Given
        Map<String, List<String>> printed = new HashMap<>();
        Matcher rows = ROW.matcher(ConfigText.markdownTable());
        while (rows.find()) {
            printed.put(rows.group(1), List.of(rows.group(2), rows.group(3)));
        }

        // When
        Map<String, List<String>> told = new HashMap<>();
        Matcher options = OPTION.matcher(readme);
        while (options.find()) {
            told.put(options.group(1), List.of(options.group(2), options.group(3)));
        }

        // Then
        assertThat(told).hasSize(6);
        told.forEach((option, cells) -> assertThat(printed).containsEntry(option, cells));
    }
}
