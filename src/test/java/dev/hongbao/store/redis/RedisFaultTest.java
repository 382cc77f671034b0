package dev.hongbao.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.store.redis.RedisLink.RedisInfo;
import io.vertx.redis.client.impl.types.ErrorType;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisFaultTest {
    @ParameterizedTest
    @CsvSource({
        "LOADING Redis is loading the dataset in memory, true",
        "MASTERDOWN Link with MASTER is down, true",
        "CLUSTERDOWN The cluster is down, true",
        "CONNECTION_CLOSED, true",
        "ERR max number of clients reached, true",
        "WRONGPASS invalid username-password pair, false",
        "NOAUTH Authentication required., false",
        "NOPERM no permissions, false",
        "ERR DB index is out of range, false",
        "DENIED Redis is running in protected mode, false"
    })
    void aFirstConnectionWaitsForWhatPassesByItself(String said, boolean passes) {
        assertThat(RedisFault.isAway(ErrorType.create(said))).isEqualTo(passes);
    }

    @Test
    void aCertificateDoesNotPassAndALineDoes() {
        assertThat(RedisFault.isAway(RedisFault.down())).isTrue();
        assertThat(RedisFault.isAway(new ConnectException("refused"))).isTrue();
        assertThat(RedisFault.isAway(new UnknownHostException("not yet"))).isTrue();
        assertThat(RedisFault.isAway(new TimeoutException())).isTrue();
        assertThat(RedisFault.isAway(new SSLHandshakeException("not trusted"))).isFalse();
        assertThat(RedisFault.isAway(new IllegalArgumentException("a fault"))).isFalse();
    }

    @Test
    void aServerThatReadsItsDataBackIsAway() {
        RedisInfo loading = new RedisInfo(Map.of("loading", "1", "loading_eta_seconds", "7"));

        assertThat(RedisFault.isAway(loading.whenLoaded().cause())).isTrue();
        assertThat(loading.whenLoaded().cause()).hasMessageContaining("7 s");
        assertThat(new RedisInfo(Map.of("loading", "0")).whenLoaded().succeeded())
                .isTrue();
    }
}
