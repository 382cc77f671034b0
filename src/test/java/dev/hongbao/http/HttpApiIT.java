package dev.hongbao.http;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;

/** The API's contract on the whole server, with default limits. */
@ExtendWith(Servers.class)
class HttpApiIT extends HttpApiContract {
    private static TestServer server;

    @BeforeAll
    static void start(TestServers servers) {
        server = TestServer.start(servers, Map.of());
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Override
    URI base() {
        return server.base();
    }

    @Override
    byte[] secret() {
        return server.secret();
    }
}
