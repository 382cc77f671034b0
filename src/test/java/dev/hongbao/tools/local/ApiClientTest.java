package dev.hongbao.tools.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.hongbao.tools.local.ApiClient.Answer;
import dev.hongbao.tools.local.ApiClient.Request;
import io.vertx.core.json.DecodeException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ApiClientTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final List<String> keys = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        threads.shutdownNow();
    }

    private Request request(String path) {
        return new Request(server.getAddress().getPort(), "POST", path, "token", "key", "{}");
    }

    /** Answers one after the other: a status and a body; the last for good. Status 0 breaks the connection. */
    private void answers(String path, Object... statusesAndBodies) {
        server.createContext(path, exchange -> {
            keys.add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            int at = Math.min(2 * (keys.size() - 1), statusesAndBodies.length - 2);
            byte[] body = statusesAndBodies[at + 1].toString().getBytes();
            if (statusesAndBodies[at].equals(0)) {
                throw new IOException("closes the connection");
            }
            exchange.sendResponseHeaders((Integer) statusesAndBodies[at], body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }

    @Test
    void aClaimIsRepeatedWithItsKeyUntilItsAnswerIsDefinite() throws Exception {
        answers("/claims", 0, "", 502, "<html>Bad Gateway</html>", 202, "{}", 201, "{\"amount\":5}");

        Answer answer = new ApiClient(LONG).callAgain(request("/claims"), LONG);

        assertThat(answer.status()).isEqualTo(201);
        assertThat(answer.body().getInteger("amount")).isEqualTo(5);
        assertThat(keys).containsExactly("key", "key", "key", "key");
    }

    @Test
    void acceptedIsAnAnswerToAnythingButAClaim() throws Exception {
        answers("/end", 202, "{}");

        assertThat(new ApiClient(LONG).callAgain(request("/end"), LONG).status())
                .isEqualTo(202);
        assertThat(keys).hasSize(1);
    }

    @Test
    void aRefusalThatIsNotJsonIsGarbled() {
        answers("/claims", 400, "<html>Bad Request</html>");

        assertThatThrownBy(() -> new ApiClient(LONG).call(request("/claims"))).isInstanceOf(DecodeException.class);
    }

    @Test
    void aCommandThatIsCalledOnceIsNotRepeated() {
        answers("/claims", 0, "");

        assertThatThrownBy(() -> new ApiClient(LONG).call(request("/claims"))).isInstanceOf(IOException.class);
        assertThat(keys).hasSize(1);
    }

    @Test
    void halfOfAnAnswerHasALimit() {
        CountDownLatch over = new CountDownLatch(1);
        server.createContext("/claims", exchange -> {
            exchange.sendResponseHeaders(200, 10);
            OutputStream body = exchange.getResponseBody();
            body.write('{');
            body.flush();
            try {
                over.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });

        assertThatThrownBy(() -> new ApiClient(Duration.ofMillis(500)).call(request("/claims")))
                .isInstanceOf(HttpTimeoutException.class);
        over.countDown();
    }
}
