package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A few connections to a server in its own process: all open, join, and have each event. */
@Tag("long")
class SocketsBenchIT {
    @Test
    void everyMemberHasEveryEvent(@TempDir Path directory) throws Exception {
        // Given
        var load = new SocketsBench.Load(60, 40, 2);
        List<String> steps = new ArrayList<>();

        // When
        Findings found = SocketsBench.run(directory, load, steps::add);

        // Then
        assertThat(steps).hasSize(SocketsBench.steps(load));
        assertThat(found.faults()).isEmpty();
        assertThat(found.lines())
                .allSatisfy(line -> assertThat(line.measured().rounds()).isNotEmpty());
    }
}
