package dev.hongbao.common.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What servers tell each other.
 *
 * @param members where other servers listen, host or host:port; a name may resolve to all of them; empty: nothing is started
 * @param host the address of this server that the others reach, on a network of their own
 * @param port of the membership; the messages go over the one after it
 * @param name of the cluster
 * @param tls of the messages; null for none
 */
public record ClusterConfig(
        List<String> members,
        String host,
        int port,
        String name,
        @Nullable ClusterTls tls) {
    public ClusterConfig {
        Options.CLUSTER_MEMBERS.require(members);
        Options.CLUSTER_HOST.require(host);
        Options.CLUSTER_PORT.require(port);
        Options.CLUSTER_NAME.require(name);
        members = List.copyOf(members);
    }

    static ClusterConfig from(OptionValues values) {
        return new ClusterConfig(
                values.get(Options.CLUSTER_MEMBERS),
                values.get(Options.CLUSTER_HOST),
                values.get(Options.CLUSTER_PORT),
                values.get(Options.CLUSTER_NAME),
                ClusterTls.from(values));
    }

    /** Whether there is to be one. */
    public boolean isOn() {
        return !members.isEmpty();
    }
}
