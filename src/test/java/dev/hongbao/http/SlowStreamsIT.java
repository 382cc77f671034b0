package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.HttpApiClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.testing.TlsTestServer;
import dev.hongbao.values.Caller.Role;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Over HTTP/2 a client lets no more of its answers come, and keeps the connection alive. */
@ExtendWith(Servers.class)
class SlowStreamsIT extends HttpApiClient {
    private static final String LONG = "/docs/swagger-ui-bundle.js";
    private static final String SHORT = "/v1/me/balances";

    @TempDir
    static Path directory;

    private static TestServer server;
    private static SSLContext clients;

    @BeforeAll
    static void start(TestServers stores) throws Exception {
        TlsTestServer secured = TlsTestServer.start(stores, directory, Map.of("socket.slow-timeout", "1s"));
        server = secured.server();
        clients = secured.clients();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Override
    public URI base() {
        return server.base();
    }

    @Override
    public byte[] secret() {
        return server.secret();
    }

    private static String metrics() throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(server.management().resolve("/metrics"))
                                .build(),
                        BodyHandlers.ofString())
                .body();
    }

    @Test
    void streamsWhoseWindowStaysShutAreResetAndTheOthersGoOn() throws Exception {
        String token = token("reader", group, Role.USER);
        try (RawHttp2 connection = new RawHttp2(clients, server.base().getPort())) {
            // Given answers that wait for their client: a long one in its middle, a short one before its only piece
            connection.get(1, LONG, token);
            connection.get(3, LONG, token);
            connection.get(5, SHORT, token);

            // When it sends a ping and reads, but lets nothing more come
            connection.frame(RawHttp2.PING, 0, 0, new byte[8]);
            Set<Integer> resets = new HashSet<>();
            while (resets.size() < 3) {
                RawHttp2.Frame frame = connection.next();
                if (frame.type() == RawHttp2.RST_STREAM) {
                    resets.add(frame.stream());
                }
            }

            // Then they are over, and the connection is not
            assertThat(resets).containsExactlyInAnyOrder(1, 3, 5);
            connection.frame(RawHttp2.WINDOW_UPDATE, 0, 0, (byte) 0, (byte) 1, (byte) 0, (byte) 0);
            connection.get(7, SHORT, token);
            RawHttp2.Frame frame = connection.next();
            while (frame.stream() != 7 || (frame.flags() & RawHttp2.END_STREAM) == 0) {
                frame = connection.next();
            }
            assertThat(frame.type()).isEqualTo(RawHttp2.DATA);
        }
    }

    @Test
    void aConnectionThatIsNotReadAtAllIsCut() throws Exception {
        String token = token("reader", group, Role.USER);
        try (RawHttp2 connection = new RawHttp2(clients, server.base().getPort())) {
            // Given a client that lets all come, and reads nothing of it
            byte[] wide = {0x3f, 0, 0, 0};
            connection.frame(RawHttp2.SETTINGS, 0, 0, (byte) 0, (byte) 4, wide[0], wide[1], wide[2], wide[3]);
            connection.frame(RawHttp2.WINDOW_UPDATE, 0, 0, wide);
            connection.get(1, LONG, token);
            connection.get(3, LONG, token);

            // Then
            eventually(() -> metrics().contains("hongbao_http_connections 1.0"));
            eventually(() -> metrics().contains("hongbao_http_connections 0.0"));
        }
    }
}
