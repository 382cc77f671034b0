package dev.hongbao.web.http;

import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;

/** A client of the whole server in this JVM; one server for all tests of a class, which calls {@link #serve} before them. */
abstract class TestServerClient extends HttpApiClient {
    static TestServers servers;
    private static TestServer server;

    static void serve(TestServers given, Map<String, String> options) {
        servers = given;
        server = TestServer.start(given, options);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Override
    URI base() {
        return server.base();
    }

    /** A path on the management port. */
    static String managed(String path) {
        return server.management().resolve(path).toString();
    }

    @Override
    byte[] secret() {
        return server.secret();
    }
}
