package dev.hongbao.tools.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The effect of a broken line on bytes, and its end. */
class LossyProxyTest {
    private static final int NOTHING_COMES_MILLIS = 200;
    private static final int COMES_MILLIS = 10_000;

    private ServerSocket listener;
    private LossyProxy line;
    private Socket client;
    private Socket server;

    @BeforeEach
    void connect() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        listener = new ServerSocket(0, 1, loopback);
        line = new LossyProxy(loopback.getHostAddress(), listener.getLocalPort());
        client = new Socket(loopback, line.port());
        server = listener.accept();
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        server.close();
        line.close();
        listener.close();
    }

    @Test
    void whatWasSentWhileALineStalledArrivesLateAndInOrder() throws IOException {
        // Given
        line.stall();
        say(client, "one ");

        // When
        assertNothingCame(server);
        say(client, "two");
        line.flow();

        // Then
        assertThat(heard(server, "one two".length())).isEqualTo("one two");
    }

    @Test
    void whatWasSentBeforeItsSenderGaveUpArrivesAllTheSame() throws IOException {
        // Given
        line.stall();
        say(client, "commit");
        client.close();

        // When
        line.flow();

        // Then
        assertThat(new String(server.getInputStream().readAllBytes())).isEqualTo("commit");
    }

    @Test
    void whatWasSentOverASilentLineNeverArrives() throws IOException {
        // Given
        line.fallSilent();
        say(client, "lost");
        assertNothingCame(server);

        // When
        line.comeBack();
        say(client, "lost, too");

        // Then
        assertNothingCame(server);
    }

    @Test
    void theEndOfASilentConnectionIsLostToo() throws IOException {
        // Given
        line.fallSilent();

        // When
        client.shutdownOutput();

        // Then
        assertNothingCame(client);
        line.comeBack();
        assertNothingCame(client);
        line.close();
        assertThat(client.getInputStream().read()).isNegative();
    }

    private static void say(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes());
    }

    private static String heard(Socket socket, int bytes) throws IOException {
        socket.setSoTimeout(COMES_MILLIS);
        return new String(socket.getInputStream().readNBytes(bytes));
    }

    private static void assertNothingCame(Socket socket) throws IOException {
        socket.setSoTimeout(NOTHING_COMES_MILLIS);
        assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
    }
}
