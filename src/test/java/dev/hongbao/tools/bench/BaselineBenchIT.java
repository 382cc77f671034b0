package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The articles' ways, a few claims each: what they got wrong is what their doc comments say. */
class BaselineBenchIT {
    @Test
    @Tag("long")
    void everyWayIsMeasuredAndItsTrapsShow(@TempDir Path directory) throws Exception {
        // Given
        Scale scale = new Scale(1, 20);
        List<String> steps = new ArrayList<>();

        // When
        JsonObject found = BaselineBench.run(directory, scale, steps::add).toJson();

        // Then each has a rate
        assertThat(steps).hasSize(BaselineBench.steps(scale));
        assertThat(found.getBoolean("sound")).isTrue();
        assertThat(found.getJsonObject("machine").getString("servers")).startsWith("Redis 7");
        assertThat(found.getJsonArray("measurements"))
                .hasSize(5)
                .allSatisfy(each ->
                        assertThat(((JsonObject) each).getDouble("median")).isPositive());
        // and the one atomic script is right as long as no client dies, and wrong when they do
        JsonArray rows = found.getJsonArray("tables").getJsonObject(0).getJsonArray("rows");
        assertThat(rows).hasSize(10);
        assertThat(violations(rows, 0)).containsOnly("0");
        for (int failing = 1; failing < 10; failing += 2) {
            assertThat(violations(rows, failing)).anyMatch(count -> !count.equals("0"));
        }
    }

    private static List<String> violations(JsonArray rows, int row) {
        return rows.getJsonArray(row).stream().map(String::valueOf).toList().subList(3, 7);
    }
}
