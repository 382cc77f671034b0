package dev.hongbao.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.doctor.MachineChecks.OpenFiles;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OpenFilesTest {
    @ParameterizedTest
    @CsvSource({
        "20000, 1048576, 20000",
        "20000, 20500, 20000",
        "20000, 20499, 19999",
        "20000, 4096, 3596",
        "20000, 600, 300",
        "20000, 1, 1",
        "100, 1024, 100",
        "20000, 0, 20000",
        "20000, -1, 20000",
        "1000000, 9223372036854775807, 1000000",
    })
    void thereAreNoMoreConnectionsThanFiles(int configured, long files, int connections) {
        assertThat(OpenFiles.atMost(configured, files)).isEqualTo(connections);
    }

    @Test
    void aDefaultThatNobodyChoseIsLoweredInSilenceUnlessLittleIsLeft() {
        assertThat(HongbaoConfig.of(Map.of()).web().http().maxConnections()).isEqualTo(OpenFiles.DEFAULT);
        assertThat(OpenFiles.check(OpenFiles.DEFAULT, 20_000)).isEmpty();
        assertThat(OpenFiles.check(OpenFiles.DEFAULT, 1_024))
                .singleElement()
                .satisfies(warning -> assertThat(warning.text()).contains("only 1024 files", "524 connections"));
        assertThat(OpenFiles.check(30_000, 20_000)).hasSize(1);
        assertThat(OpenFiles.check(30_000, 1_048_576)).isEmpty();
    }
}
