package dev.hongbao.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.flywaydb.core.api.MigrationVersion;
import org.junit.jupiter.api.Test;

/** What a released version has done to databases stays what it is: {@code released-migrations.txt} has a digest of each. */
class ReleasedMigrationsTest {
    private static final Path LIST = Path.of("src/test/resources/released-migrations.txt");
    private static final String WRITE = "./mvnw -q test -Dtest=ReleasedMigrationsTest -Dreleased=write";

    private static final Comparator<String> IN_ORDER = Comparator.comparing(ReleasedMigrationsTest::version);

    private static MigrationVersion version(String script) {
        return MigrationVersion.fromVersion(
                script.substring(1, script.indexOf("__")).replace('_', '.'));
    }

    /** Those that are done once; {@code R__} is done again whenever it changes. */
    private static List<String> versioned() {
        return Migrations.scripts().stream()
                .filter(script -> script.startsWith("V"))
                .sorted(IN_ORDER)
                .toList();
    }

    private static String line(String script) {
        return script + " " + Migrations.digestOf(List.of(script));
    }

    private static Map<String, String> released() throws IOException {
        return Files.readAllLines(LIST).stream()
                .collect(Collectors.toMap(
                        line -> line.substring(0, line.indexOf(' ')),
                        line -> line,
                        (one, other) -> one,
                        () -> new TreeMap<>(IN_ORDER)));
    }

    @Test
    void aReleasedMigrationIsNeverEdited() throws IOException {
        if ("write".equals(System.getProperty("released"))) {
            Files.write(
                    LIST, versioned().stream().map(ReleasedMigrationsTest::line).toList());
        }

        assertThat(versioned())
                .as("Released migrations stay where they are")
                .containsAll(released().keySet());
        assertThat(released().keySet())
                .allSatisfy(script -> assertThat(line(script))
                        .as("Released migrations are never edited: databases have done them. Undo the change, and"
                                + " add a new file. Only a migration that is in no released version may be listed"
                                + " anew: "
                                + WRITE)
                        .isEqualTo(released().get(script)));
    }

    @Test
    void aReleasedVersionHasAllItsMigrationsListed() throws IOException {
        boolean isReleased = !Files.readString(Path.of("pom.xml")).contains("-SNAPSHOT</version>");

        assertThat(isReleased ? versioned() : released().keySet())
                .as("The version in pom.xml is a released one: " + WRITE)
                .containsExactlyElementsOf(released().keySet());
    }

    /** Flyway does not go back to do an older one. */
    @Test
    void aNewMigrationComesAfterTheReleasedOnes() throws IOException {
        List<String> all = versioned();

        assertThat(all.subList(0, released().size()))
                .as("a migration with a number below a released one: " + WRITE + " if none of them is released")
                .containsExactlyElementsOf(released().keySet());
    }
}
