package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Half a million claims beside an empty database: the rounds are made, and the books are clean in all three ways to read them. */
@Tag("long")
class GrownBenchIT {
    @Test
    void theBooksOfAGrownDatabaseAreClean(@TempDir Path directory) throws Exception {
        // Given
        Scale scale = new Scale(1, 1);
        List<String> steps = new ArrayList<>();

        // When
        Findings found = GrownBench.run(directory, scale, steps::add);

        // Then
        assertThat(steps).hasSize(GrownBench.steps(scale));
        assertThat(found.faults()).isEmpty();
        assertThat(found.lines())
                .hasSize(18)
                .allSatisfy(line -> assertThat(line.measured().rounds()).isNotEmpty());
    }
}
