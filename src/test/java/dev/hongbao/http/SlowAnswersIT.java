package dev.hongbao.http;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Clients who ask for much and read nothing of it, or a few bytes now and then: their connections end. */
class SlowAnswersIT {
    private static final String LONG = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: h\r\n\r\n";
    private static final String SHORT = "GET /hongbao-client.js HTTP/1.1\r\nHost: h\r\n\r\n";

    /** Longer than a slice may take, shorter than any other limit of the server. */
    private static final Duration SOON = Duration.ofSeconds(20);

    private static FaceServer server;

    @BeforeAll
    static void start() throws Exception {
        server = new FaceServer(List.of(), Duration.ofMillis(500));
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    private static void assertNoneIsOpen() {
        assertThat(server.metrics()).contains("hongbao_http_connections 0.0");
    }

    private static void readALittle(Socket socket) {
        try {
            socket.getInputStream().readNBytes(256);
        } catch (IOException cut) {
            // so it is
        }
    }

    @Test
    void whoReadsALongAnswerByteForByteOrNotAtAllLosesTheConnection() throws Exception {
        try (Socket none = server.connect();
                Socket slow = server.connect()) {
            // Given
            FaceServer.write(none, LONG);
            assertThat((char) none.getInputStream().read()).isEqualTo('H');
            FaceServer.write(slow, LONG);

            // When some 25 KB are read a second, where 128 are asked for
            eventually(SOON, () -> {
                readALittle(slow);
                assertNoneIsOpen();
            });
        }
    }

    /** 80 MB outside of the heap, if they were written at once. */
    @Test
    void whoReadsNoneOfManyShortAnswersLosesTheConnectionAndCostsLittle() throws Exception {
        long before = PlatformDependent.usedDirectMemory();
        try (Socket socket = server.connect()) {
            Thread asks = new Thread(() -> {
                try {
                    FaceServer.write(socket, SHORT.repeat(3_000));
                } catch (Exception cut) {
                    // the server reads no more than it answers
                }
            });
            asks.start();
            assertThat((char) socket.getInputStream().read()).isEqualTo('H');

            eventually(SOON, () -> {
                assertThat(PlatformDependent.usedDirectMemory() - before).isLessThan(16L << 20);
                assertNoneIsOpen();
            });
            asks.join();
        }
    }
}
