package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One start and a second of each load, where {@code wrk} is installed: nothing is refused, and the books are clean. */
@Tag("long")
class StartBenchIT {
    @Test
    void aServerStartsAndServesAtOnce(@TempDir Path directory) throws Exception {
        assumeTrue(Wrk.isInstalled(), "wrk is not installed");

        // Given
        Scale scale = new Scale(1, 1);
        List<String> steps = new ArrayList<>();

        // When
        Findings found = StartBench.run(directory.resolve("data"), directory.resolve("results"), scale, steps::add);

        // Then
        assertThat(steps).hasSize(StartBench.steps(scale));
        assertThat(found.faults()).isEmpty();
        assertThat(found.lines())
                .allSatisfy(line -> assertThat(line.measured().median())
                        .as(line.measured().name())
                        .isPositive());
    }
}
