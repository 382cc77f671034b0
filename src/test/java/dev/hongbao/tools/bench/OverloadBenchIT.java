package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A second of twice what a server can do: it settles, refuses the rest with Retry-After, and its books are clean. */
@Tag("long")
class OverloadBenchIT {
    @Test
    void theExcessIsRefusedAndTheRestIsSettled(@TempDir Path directory) throws Exception {
        // Given a server that lets few claims wait
        Scale scale = new Scale(1, 1);
        List<String> steps = new ArrayList<>();

        // When
        Findings found = OverloadBench.run(directory, scale, steps::add);

        // Then
        assertThat(steps).hasSize(OverloadBench.steps(scale));
        assertThat(found.faults()).isEmpty();
        assertThat(median(found, "settled, offered twice as many")).isPositive();
        assertThat(median(found, "refused with 503")).isPositive();
        assertThat(found.toJson().getJsonArray("plots"))
                .extracting(plot -> ((JsonObject) plot).getJsonArray("lines").size())
                .containsExactly(1, 4, 3, 2, 1);
    }

    private static double median(Findings found, String name) {
        return found.lines().stream()
                .filter(line -> line.measured().name().equals(name))
                .findFirst()
                .orElseThrow()
                .measured()
                .median();
    }
}
