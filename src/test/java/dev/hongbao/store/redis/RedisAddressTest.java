package dev.hongbao.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.store.redis.RedisAddress.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisAddressTest {
    @Test
    void oneServer() {
        RedisAddress address = RedisAddress.parse("rediss://me:pw@redis.example/2");
        assertThat(address.kind()).isEqualTo(Kind.SERVER);
        assertThat(address.options().getEndpoints()).containsExactly("rediss://me:pw@redis.example:6379/2");
    }

    @Test
    void someNodesOfACluster() {
        RedisAddress address = RedisAddress.parse("redis+cluster://:pw@h1:7001,h2,[::1]:7003,[::2]");
        assertThat(address.kind()).isEqualTo(Kind.CLUSTER);
        assertThat(address.hosts()).isEqualTo(List.of("h1:7001", "h2:6379", "[::1]:7003", "[::2]:6379"));
        assertThat(address.optionsOf("[::9]:1").getEndpoint()).isEqualTo("redis://:pw@[::9]:1");
    }

    @Test
    void sentinelsAndTheNameOfTheirMaster() {
        RedisAddress address = RedisAddress.parse("redis+sentinel://:pw@h1,h2:1/my-master");
        assertThat(address.kind()).isEqualTo(Kind.SENTINEL);
        assertThat(address.masterName()).isEqualTo("my-master");
        assertThat(address.hosts()).containsExactly("h1:26379", "h2:1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "redis://", "http://h", "redis+other://h", "redis+sentinel://h", "redis+sentinel://h/"})
    void anythingElseIsRefused(String url) {
        assertThatThrownBy(() -> RedisAddress.parse(url)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void itDoesNotTellThePassword() {
        assertThat(RedisAddress.parse("redis+cluster://me:hunter2@h1:1"))
                .asString()
                .doesNotContain("hunter2");
        assertThatThrownBy(() -> RedisAddress.parse("http://:hunter2@h")).hasMessageNotContaining("hunter2");
    }

    @Test
    void theAuthorityIsReadAndNoPartOfTheServersAddress() {
        // Given
        String url = RedisAddress.withAuthority("rediss://:pw@h:1/2", java.nio.file.Path.of("/etc/my ca.pem"));

        // When
        RedisAddress address = RedisAddress.parse(url);

        // Then
        assertThat(address.authority()).isEqualTo("/etc/my ca.pem");
        assertThat(address.options().getEndpoint()).isEqualTo("rediss://:pw@h:1/2");
        assertThat(address.options().getNetClientOptions().getTrustOptions()).isNotNull();
        assertThat(RedisAddress.withAuthority("redis://h:1", null)).isEqualTo("redis://h:1");
    }
}
