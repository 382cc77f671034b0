package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a packet and a claim cost in Redis does not depend on the machine, so their targets hold here too. */
@Tag("long")
class MemoryBenchIT {
    @Test
    void packetsAndClaimsAreSmallAndASmallServerServesThem(@TempDir Path directory) throws Exception {
        // Given
        Scale scale = new Scale(1, 5);
        List<String> steps = new ArrayList<>();

        // When
        Findings found = MemoryBench.run(directory, scale, steps::add);

        // Then
        assertThat(steps).hasSize(MemoryBench.steps(scale));
        assertThat(found.faults()).isEmpty();
        assertThat(found.lines())
                .hasSize(5)
                .allSatisfy(line -> assertThat(line.measured().median()).isPositive());
        assertThat(found.lines().stream().filter(Findings.Line::hasTarget)).allMatch(Findings.Line::isReached);
    }
}
