package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A thousand users at one moment: each gets an answer, and the books are clean. */
@Tag("long")
class RainBenchIT {
    @Test
    void everybodyIsAnsweredAndWhatIsSettledIsMeasured(@TempDir Path directory) throws Exception {
        // Given
        Scale scale = new Scale(1, 1);
        List<String> steps = new ArrayList<>();

        // When
        Findings found = RainBench.run(directory, scale, steps::add);

        // Then
        assertThat(steps).hasSize(RainBench.steps(scale));
        assertThat(found.faults()).isEmpty();
        assertThat(found.lines())
                .filteredOn(line -> line.measured().name().startsWith("settled"))
                .hasSize(2)
                .allSatisfy(line -> assertThat(line.measured().median()).isPositive());
        assertThat(found.toJson().getJsonArray("plots")).hasSize(2);
    }
}
