package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A second of each load on one to three servers, with a Redis and with a Redis Cluster: all is settled, counted, and the books are clean. */
@Tag("long")
class ClusterBenchIT {
    @Test
    void everyProcessIsCountedForEachNumberOfServers(@TempDir Path directory) throws Exception {
        // Given
        Scale scale = new Scale(1, 1);
        List<String> steps = new ArrayList<>();

        // When
        Findings found = ClusterBench.run(directory, scale, steps::add);

        // Then
        assertThat(steps).hasSize(ClusterBench.steps(scale));
        assertThat(found.faults()).isEmpty();
        assertThat(found.lines())
                .extracting(line -> line.measured().name())
                .contains(
                        "3 servers against 1: CPU of Postgres",
                        "3 servers against 3 that share a machine only: CPU",
                        "3 masters against 1: latency, p50");

        // And every place is told of
        List<JsonObject> tables = found.toJson().getJsonArray("tables").stream()
                .map(JsonObject.class::cast)
                .toList();
        int places = ClusterBench.MASTERS.size() * ClusterBench.SERVERS * (ClusterBench.RATES.size() + 1);
        assertThat(tables)
                .extracting(table -> table.getJsonArray("rows").size())
                .containsExactly(
                        places + ClusterBench.MASTERS.size() + 1, ClusterBench.MASTERS.size() * ClusterBench.SERVERS);
        assertThat(tables.get(0).getJsonArray("rows"))
                .allSatisfy(
                        row -> assertThat(row.toString()).doesNotContain("NaN").doesNotContain("∞"));
    }
}
