package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.Option.ConfigText;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The guide says of each table of the schema what keeps it, and how long. */
@ExtendWith(Servers.class)
class KeptTablesIT {
    private static final Path GUIDE = Path.of("src/site/markdown/observing.md");

    private static final String TABLES =
            "select relname from pg_class where relkind in ('r', 'p') and not relispartition"
                    + " and relnamespace = 'public'::regnamespace order by relname";

    private static String section() throws Exception {
        String page = Files.readString(GUIDE);
        int from = page.indexOf("\n## What is kept, and how long\n");
        return page.substring(from, page.indexOf("\n## ", from + 1));
    }

    @Test
    void everyTableStandsInTheGuide(TestServers servers) throws Exception {
        // Given
        List<String> rows =
                section().lines().filter(line -> line.startsWith("| `")).toList();

        // Then each is named once, by a row that says more
        List<String> named = new ArrayList<>();
        for (String row : rows) {
            String[] cells = row.split("\\|");
            assertThat(cells).as(row).hasSize(4);
            assertThat(cells[2]).as(row).isNotBlank();
            assertThat(cells[3]).as(row).isNotBlank();
            Matcher names = Pattern.compile("`([a-z_]+)`").matcher(cells[1]);
            while (names.find()) {
                named.add(names.group(1));
            }
        }
        assertThat(named).containsExactlyInAnyOrderElementsOf(new Books(servers).strings(TABLES));
    }

    @Test
    void everyOptionThatItNamesIsOne() throws Exception {
        Matcher options = Pattern.compile("`([a-z]+\\.[a-z-]+)`").matcher(section());
        List<String> named = new ArrayList<>();
        while (options.find()) {
            named.add(options.group(1));
        }

        assertThat(named).contains("idempotency.retention", "audit.retention", "feed.retention", "outbox.retention");
        assertThat(named)
                .allSatisfy(option -> assertThat(ConfigText.markdownTable()).contains("| `" + option + "` |"));
    }
}
