package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Every micro-benchmark runs, once and untimed: what nobody runs breaks unseen. */
class MicroBenchmarksTest {
    @Test
    void everyMicroBenchmarkRuns() throws Exception {
        // When
        var results = new Runner(new OptionsBuilder()
                        .include(".*Micro")
                        .mode(Mode.SingleShotTime)
                        .forks(0)
                        .warmupIterations(0)
                        .measurementIterations(1)
                        .shouldFailOnError(true)
                        .verbosity(VerboseMode.SILENT)
                        .build())
                .run();

        // Then six splits, two token checks, and encoding and decoding of two batches
        assertThat(results).hasSize(12);
    }
}
