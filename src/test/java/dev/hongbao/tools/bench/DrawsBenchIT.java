package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A few plays of each kind of draw: all are settled, and the books are clean. */
class DrawsBenchIT {
    @Test
    void everyKindOfDrawIsPlayedAndReconciled(@TempDir Path directory) throws Exception {
        // Given
        Scale scale = new Scale(1, 1);
        List<String> steps = new ArrayList<>();

        // When
        Findings found = DrawsBench.run(directory, scale, steps::add);

        // Then
        assertThat(steps).hasSize(DrawsBench.steps(scale));
        assertThat(found.faults()).isEmpty();
        assertThat(found.lines())
                .hasSize(5)
                .allSatisfy(line -> assertThat(line.measured().rounds()).hasSize(1));
    }
}
