package dev.hongbao.fuzz;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.testing.TlsTestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** A second server, with a certificate and stores of its own: HTTP/2 is offered over TLS only. */
final class SecuredServer implements AutoCloseable {
    private static final String HTTP_2 = "h2";

    private final TestServers stores = Servers.freshKillable();
    private final TestServer server;
    private final SSLContext trust;

    /** @param options of the first server too */
    SecuredServer(Map<String, String> options) throws Exception {
        Map<String, String> all = new HashMap<>(options);
        all.put("http.event-loops", "1");
        TlsTestServer secured = TlsTestServer.start(stores, Files.createTempDirectory("fuzz"), all);
        this.trust = secured.clients();
        this.server = secured.server();
    }

    /** Who may call it. */
    World world() {
        return new World(server.base().getPort(), server.secret());
    }

    /** A connection on which HTTP/2 is spoken; sessions of TLS are taken up again. @throws IOException when it is not */
    Line line() throws IOException {
        SSLSocket socket = (SSLSocket) trust.getSocketFactory().createSocket();
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {HTTP_2});
        socket.setSSLParameters(parameters);
        Line line = new Line(socket, server.base().getPort());
        try {
            socket.startHandshake();
        } catch (SSLException refused) {
            throw new IOException("no TLS", refused);
        }
        if (!HTTP_2.equals(socket.getApplicationProtocol())) {
            throw new IOException("no HTTP/2");
        }
        return line;
    }

    /** Waits until it is quiet, and looks at it. */
    void check(Findings findings) {
        FuzzServer.check(server, stores, findings);
    }

    @Override
    public void close() {
        server.close();
        stores.close();
    }
}
