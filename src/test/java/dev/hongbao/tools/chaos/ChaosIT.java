package dev.hongbao.tools.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.tools.chaos.bed.RedisSide.Form;
import dev.hongbao.tools.chaos.check.Violation;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The command {@code chaos}, short, with the same faults each time; with {@code -Dlong} for minutes, on every form of Redis. */
class ChaosIT {
    private static final long SEED = 20_261_122;

    @TempDir
    private Path directory;

    @Test
    @Tag("long")
    void everyPromiseIsKept() throws Exception {
        ChaosResult result = run(Duration.ofSeconds(10), 2, Form.ONE);

        assertThat(result.faults()).isPositive();
        assertThat(result.claims().get("claimed")).isPositive();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("long")
    void everyPromiseIsKeptForLong(Form redis) throws Exception {
        ChaosResult result = run(Duration.ofMinutes(3), 3, redis);

        assertThat(result.faults()).isGreaterThan(40);
    }

    private ChaosResult run(Duration length, int servers, Form redis) throws Exception {
        Chaos.Settings settings = new Chaos.Settings(length, SEED, servers, redis, "", 16);
        ChaosResult result = Chaos.run(settings, directory, System.out::println);
        System.out.println(result.text());
        assertThat(result.violations())
                .extracting(Violation::text)
                .as("seed " + SEED)
                .isEmpty();
        return result;
    }
}
