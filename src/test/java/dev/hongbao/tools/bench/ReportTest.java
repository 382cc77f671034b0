package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
    @Test
    void thePageHasAllResultsAndAsksNoOtherHost(@TempDir Path results) throws Exception {
        // Given two results, one with a name that would end the script it stands in
        Findings claims = new Findings("claims");
        claims.measure("</script><b>claims", "claims/s").add(3);
        claims.exhibits()
                .add(new Exhibits.Plot(
                        "over time",
                        "seconds",
                        Exhibits.Axis.LINEAR,
                        "claims/s",
                        Exhibits.Axis.LINEAR,
                        List.of(new Exhibits.Line("settled", List.of(new Exhibits.Point(0.5, 2))))));
        claims.write(results);
        Findings draws = new Findings("draws");
        draws.measure("plays", "plays/s").add(5);
        draws.write(results);

        // When
        String page = Files.readString(Report.write(results));

        // Then
        assertThat(page)
                .contains("\"bench\":\"claims\"")
                .contains("\"bench\":\"draws\"")
                .contains("over time")
                .contains("uPlot.join")
                .doesNotContain("</script><b>")
                .doesNotContain("<script src")
                .doesNotContain("<link rel=\"stylesheet\"")
                .doesNotContainPattern("@[a-z-]+@");
    }
}
