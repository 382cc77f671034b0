package dev.hongbao.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import dev.hongbao.common.config.HongbaoConfig;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Whom a server looks for, and where it lets itself be found: Hazelcast's port has neither TLS nor passwords. */
class HazelcastMembershipTest {
    private static final Config MEMBERSHIP = HazelcastLine.membership(HongbaoConfig.of(Map.of(
                    "cluster.members", "127.0.0.1:5801,127.0.0.2",
                    "cluster.host", "127.0.0.3",
                    "cluster.port", "5701",
                    "cluster.name", "ours"))
            .engine()
            .cluster());

    @Test
    void onlyTheMembersThatAreNamedAreLookedForAndNobodyIsCalled() {
        JoinConfig join = MEMBERSHIP.getNetworkConfig().getJoin();

        assertThat(MEMBERSHIP.getClusterName()).isEqualTo("ours");
        assertThat(join.getTcpIpConfig().isEnabled()).isTrue();
        assertThat(join.getTcpIpConfig().getMembers()).containsExactly("127.0.0.1:5801", "127.0.0.2");
        assertThat(join.getMulticastConfig().isEnabled()).isFalse();
        assertThat(join.getAutoDetectionConfig().isEnabled()).isFalse();
        assertThat(MEMBERSHIP.getProperty("hazelcast.phone.home.enabled")).isEqualTo("false");
    }

    @Test
    void itListensAtItsHostAloneAndAtNoOtherPort() {
        assertThat(MEMBERSHIP.getProperty("hazelcast.socket.bind.any")).isEqualTo("false");
        assertThat(MEMBERSHIP.getProperty("hazelcast.local.localAddress")).isEqualTo("127.0.0.3");
        assertThat(MEMBERSHIP.getNetworkConfig().getPublicAddress()).startsWith("127.0.0.3");
        assertThat(MEMBERSHIP.getNetworkConfig().getPort()).isEqualTo(5701);
        assertThat(MEMBERSHIP.getNetworkConfig().isPortAutoIncrement()).isFalse();
    }

    /** Of a name that leads to several addresses all are asked: localhost leads to one, which Hazelcast finds itself. */
    @Test
    void aNameOfOneServerIsLeftToHazelcast() {
        Config named = HazelcastLine.membership(HongbaoConfig.of(Map.of("cluster.members", "127.0.0.1:5801,[::1]:5802"))
                .engine()
                .cluster());

        assertThat(named.getNetworkConfig().getJoin().getTcpIpConfig().getMembers())
                .containsExactly("127.0.0.1:5801", "[::1]:5802");
    }
}
