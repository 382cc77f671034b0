package dev.hongbao.store.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlatformTest {
    @ParameterizedTest
    @CsvSource({"Linux, amd64, LINUX_AMD64", "Linux, x86_64, LINUX_AMD64", "Linux, aarch64, LINUX_ARM64"})
    void bothBinariesOfASupportedPlatformAreOnTheClassPath(String system, String machine, Platform platform) {
        // When
        Platform found = Platform.of(system, machine);

        // Then
        assertThat(found).isEqualTo(platform);
        assertThat(getClass().getResource("/" + found.redisResource)).isNotNull();
        assertThat(getClass().getResource("/" + found.postgresResource)).isNotNull();
    }

    @ParameterizedTest
    @CsvSource({"Mac OS X, aarch64", "Windows 11, amd64", "Linux, riscv64"})
    void elsewhereTheErrorSaysWhatToConfigure(String system, String machine) {
        assertThatThrownBy(() -> Platform.of(system, machine))
                .isInstanceOf(EmbeddedStartException.class)
                .hasMessageContaining(system)
                .hasMessageContaining("HONGBAO_REDIS_URL and HONGBAO_POSTGRES_URL");
    }

    @Test
    void aPasswordNeverShowsInWhatIsLogged() {
        // Given
        EmbeddedServers.Urls urls =
                new EmbeddedServers.Urls("postgresql://a:s3cret@h:2/d", "postgresql://o:s3cret@h:2/d");

        // Then
        assertThat(urls.toString()).isEqualTo("postgresql://h:2/d");
    }
}
