package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.values.Text;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DemoLoginTest {
    @TempDir
    private Path directory;

    @Test
    void aStartWithNothingConfiguredLetsVisitorsIn() {
        assertThat(DemoLogin.whyOff(HongbaoConfig.of(Map.of()))).isNull();
        assertThat(DemoLogin.whyOff(HongbaoConfig.of(Map.of("http.host", "localhost"))))
                .isNull();
    }

    static Stream<Arguments> others() {
        String postgres = "postgresql://u:p@127.0.0.1:5432/h";
        return Stream.of(
                Arguments.of(Map.of("redis.url", "redis://127.0.0.1:6379"), "configured servers"),
                Arguments.of(Map.of("postgres.url", postgres, "postgres.owner-url", postgres), "configured servers"),
                Arguments.of(Map.of("http.host", "0.0.0.0"), "more than this machine"),
                Arguments.of(Map.of("http.host", "::"), "more than this machine"));
    }

    @ParameterizedTest
    @MethodSource("others")
    void anyOtherStartSaysWhyItDoesNot(Map<String, String> options, String reason) {
        assertThat(DemoLogin.whyOff(HongbaoConfig.of(options)).toString()).contains("off", reason);
    }

    @Test
    void tokensOfAnIssuerOfOnesOwnKeepVisitorsOut() throws Exception {
        Path secret = java.nio.file.Files.write(directory.resolve("secret"), new byte[32]);

        Text why = DemoLogin.whyOff(HongbaoConfig.of(Map.of("token.secret-file", secret.toString())));

        assertThat(why.toString()).contains("your own issuer");
    }
}
