package dev.hongbao.tools.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs the micro-benchmarks, the classes named {@code …Micro}, with JMH in a JVM of their own. It is named so that no build runs
 * it: {@code ./mvnw -q test -Dtest=MicroBenchmarks}, and with {@code -Dmicro=Token} only some.
 */
class MicroBenchmarks {
    @Test
    void run() throws Exception {
        Path results = Path.of("target", "bench");
        Files.createDirectories(results);
        new Runner(new OptionsBuilder()
                        .include(System.getProperty("micro", "") + ".*Micro")
                        .forks(1)
                        .warmupIterations(3)
                        .warmupTime(TimeValue.seconds(1))
                        .measurementIterations(5)
                        .measurementTime(TimeValue.seconds(1))
                        .resultFormat(ResultFormatType.JSON)
                        .result(results.resolve("micro.json").toString())
                        .build())
                .run();
    }
}
