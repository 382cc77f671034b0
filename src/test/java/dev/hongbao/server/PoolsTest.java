package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.HongbaoConfig;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PoolsTest {
    @ParameterizedTest
    @CsvSource({"8, 25", "40, 57"})
    void aServersConnectionsToPostgres(String poolSize, int all) {
        assertThat(Pools.connections(HongbaoConfig.of(Map.of("postgres.pool-size", poolSize))))
                .isEqualTo(all);
    }
}
