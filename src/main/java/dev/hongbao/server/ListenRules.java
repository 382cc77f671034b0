package dev.hongbao.server;

import dev.hongbao.common.config.ClusterConfig;
import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.HttpConfig;
import dev.hongbao.common.config.ListenAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/** Where the server listens: the ports must be free, and who listens to the world has to know it. */
final class ListenRules {
    private ListenRules() {}

    /** Tries each address and port; a moment later somebody else may have taken it all the same. */
    static List<StartFinding> ports(HongbaoConfig config) {
        List<StartFinding> findings = new ArrayList<>();
        port("http", config.web().http().address(), findings);
        port("management", config.web().management().address(), findings);
        return findings;
    }

    private static void port(String part, ListenAddress address, List<StartFinding> findings) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true); // as the server does: connections in TIME_WAIT do not count
            socket.bind(new InetSocketAddress(InetAddress.getByName(address.host()), address.port()));
        } catch (UnknownHostException unknown) {
            findings.add(StartFinding.refuse(part + ".host: " + address.host() + " is no address of this machine"));
        } catch (IOException taken) {
            findings.add(StartFinding.refuse(part + ".port: cannot listen on " + address.host() + ":" + address.port()
                    + " (" + taken.getMessage() + "): choose another with --" + part + "-port, or stop who has it"));
        }
    }

    /** Who may read along beyond this machine. */
    static List<StartFinding> exposure(HongbaoConfig config) {
        List<StartFinding> findings = new ArrayList<>();
        api(config.web().http(), findings);
        String managementHost = config.web().management().address().host();
        if (!isLoopback(managementHost)) {
            findings.add(StartFinding.warn("management.host: listening on "
                    + managementHost
                    + ": the operator's page and the metrics need no token. Let only operators reach this port"));
        }
        bus(config.engine().cluster(), findings);
        return findings;
    }

    /** Tokens go over the API's connections as they are: whoever reads along can use them. */
    private static void api(HttpConfig http, List<StartFinding> findings) {
        String host = http.address().host();
        if (isLoopback(host) || http.address().tls() != null) {
            return;
        }
        if (http.proxies().protocol() == HttpConfig.ProxyProtocol.ON) {
            // A proxy that ends TLS, and tells addresses so all the same, looks no different from here.
            findings.add(StartFinding.warn("http.proxy-protocol: listening on " + host
                    + " without TLS: a proxy that passes TCP through has none; name http.tls-certificate"));
        } else if (http.proxies().trusted().isEmpty()) {
            findings.add(StartFinding.warn("http.host: listening on " + host
                    + " without TLS: tokens travel in clear text. Name a certificate in http.tls-certificate, or put a proxy with TLS"
                    + " in front, let only it reach this port, and name it in http.trusted-proxies"));
        }
    }

    /** What servers tell each other names users and what they won. */
    private static void bus(ClusterConfig cluster, List<StartFinding> findings) {
        if (cluster.isOn() && cluster.tls() == null && !isLoopback(cluster.host())) {
            findings.add(StartFinding.warn("cluster.host: the bus listens on " + cluster.host()
                    + " without TLS: its network can read who claims what; name cluster.tls-certificate"));
        }
    }

    /** Whether all addresses of the name are loopback. */
    static boolean isLoopback(String host) {
        try {
            for (InetAddress address : InetAddress.getAllByName(host)) {
                if (!address.isLoopbackAddress()) {
                    return false;
                }
            }
            return true;
        } catch (UnknownHostException unknown) {
            return false;
        }
    }
}
