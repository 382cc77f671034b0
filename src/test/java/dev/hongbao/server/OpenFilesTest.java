package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

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
}
