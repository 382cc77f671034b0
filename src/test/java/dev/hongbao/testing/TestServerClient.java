package dev.hongbao.testing;

import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;

/** A client of the whole server in this JVM; one server for all tests of a class, which calls {@link #serve} before them. */
public abstract class TestServerClient extends HttpApiClient {
    public static TestServers servers;
    private static TestServer server;

    public static void serve(TestServers given, Map<String, String> options) {
        servers = given;
        server = TestServer.start(given, options);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Override
    public URI base() {
        return server.base();
    }

    /** A path on the management port. */
    public static String managed(String path) {
        return server.management().resolve(path).toString();
    }

    @Override
    public byte[] secret() {
        return server.secret();
    }
}
