package dev.hongbao.http;

import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A client of the whole server in this JVM, with default options; one server for all tests of a class. */
abstract class TestServerClient extends HttpApiClient {
    static TestServers servers;
    private static TestServer server;

    @BeforeAll
    static void start(TestServers given) {
        servers = given;
        server = TestServer.start(given, Map.of());
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
