package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every benchmark with one small round: the load has no errors, the books balance, and each row has a value; a rate is positive. */
class BenchIT {
    @TempDir
    private Path directory;

    private Trial run(Bench.Kind kind, int percent) throws Exception {
        Trial trial = new Trial(kind.wireName(), 1, percent, directory, step -> {});
        kind.run.on(trial);
        assertThat(trial.faults()).isEmpty();
        assertThat(trial.rows())
                .isNotEmpty()
                .allSatisfy(row -> assertThat(row.median()).as(row.name).isFinite());
        assertThat(trial.rows())
                .filteredOn(row -> row.unit.endsWith("/s"))
                .allSatisfy(row -> assertThat(row.median()).as(row.name).isPositive());
        return trial;
    }

    private static Row row(Trial trial, String name) {
        return trial.rows().stream()
                .filter(row -> row.name.equals(name))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @EnumSource(names = {"CLAIMS", "SENDS"})
    void claimsAndSendsAreMeasured(Bench.Kind kind) throws Exception {
        assertThat(run(kind, 1).rows())
                .allSatisfy(row -> assertThat(row.median()).as(row.name).isPositive());
    }

    @ParameterizedTest
    @Tag("long")
    @EnumSource(names = {"DRAWS", "HTTP", "RAIN", "SOCKETS", "CLUSTER"})
    void theOthersAreMeasured(Bench.Kind kind) throws Exception {
        run(kind, 1);
    }

    @Test
    @Tag("long")
    void theSurplusOfAnOverloadIsRefusedAndTheRestIsSettled() throws Exception {
        Trial trial = run(Bench.Kind.OVERLOAD, 1);

        assertThat(row(trial, "  latency of a 503 once sent, p50").median()).isPositive();
    }
}
