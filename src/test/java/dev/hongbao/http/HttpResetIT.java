package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.HttpApiClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.testing.TlsTestServer;
import dev.hongbao.values.Caller.Role;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Over HTTP/2 a client ends one answer of several, in its middle. */
@ExtendWith(Servers.class)
class HttpResetIT extends HttpApiClient {
    @TempDir
    static Path directory;

    private static TestServer server;
    private static SSLContext clients;

    @BeforeAll
    static void start(TestServers stores) throws Exception {
        TlsTestServer secured = TlsTestServer.start(stores, directory, Map.of("http.idle-timeout", "1s"));
        server = secured.server();
        clients = secured.clients();
        // Pages and an export that are long
        new Books(stores)
                .strings(
                        "select audit_append(array_agg('auditor'::text), array_agg('service'::text), array_agg(null::text),"
                                + " array_agg('request-' || n), array_agg('GET'::text), array_agg('/v1/audit'::text),"
                                + " array_agg(repeat('s', 2000)), array_agg(200::smallint), array_agg(null::text), array_agg(null::text),"
                                + " array_agg(1::bigint), array_agg(0::bigint))::text from generate_series(1, 1000) as n");
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

    /** What is in flight on a connection keeps it from being closed as an idle one. */
    @Test
    void anAnswerThatIsResetInItsMiddleLeavesNothingInFlight() throws Exception {
        Logger root = (Logger) LoggerFactory.getLogger("dev.hongbao");
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        root.addAppender(log);
        List<RawHttp2> connections = new ArrayList<>();
        try {
            for (String path : List.of("/openapi.yaml", "/v1/audit?limit=200", "/v1/audit/export")) {
                RawHttp2 connection = new RawHttp2(clients, server.base().getPort());
                connections.add(connection);
                resetInTheMiddle(connection, path);
            }

            // Then each is closed when it is idle
            for (RawHttp2 connection : connections) {
                assertThat(connection.endedBy()).isLessThanOrEqualTo(0);
            }
        } finally {
            root.detachAppender(log);
            for (RawHttp2 connection : connections) {
                connection.close();
            }
        }
        assertThat(log.list.stream().filter(line -> line.getLevel().isGreaterOrEqual(Level.WARN)))
                .isEmpty();
    }

    private void resetInTheMiddle(RawHttp2 connection, String path) throws IOException {
        // Given an answer that waits for its client to read
        String token = token("auditor", group, Role.SERVICE);
        connection.get(1, path, token);
        for (int read = 0; read < RawHttp2.WINDOW; ) {
            RawHttp2.Frame frame = connection.next();
            if (frame.stream() == 1) {
                assertThat(frame.flags() & RawHttp2.END_STREAM).isZero();
                read += frame.type() == RawHttp2.DATA ? frame.payload().length : 0;
            }
        }

        // When
        connection.frame(RawHttp2.RST_STREAM, 0, 1, (byte) 0, (byte) 0, (byte) 0, (byte) RawHttp2.CANCEL);
        connection.frame(RawHttp2.WINDOW_UPDATE, 0, 0, (byte) 0, (byte) 1, (byte) 0, (byte) 0);

        // Then the connection goes on
        connection.get(3, "/v1/commands", token);
        RawHttp2.Frame frame = connection.next();
        while (frame.stream() != 3 || (frame.flags() & RawHttp2.END_STREAM) == 0) {
            frame = connection.next();
        }
        assertThat(frame.type()).isEqualTo(RawHttp2.DATA);
    }
}
