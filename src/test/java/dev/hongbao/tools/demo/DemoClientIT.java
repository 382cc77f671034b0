package dev.hongbao.tools.demo;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DemoClientIT {
    /** As when a server is killed, another one takes over, and then settles. */
    @Test
    void thatACampaignIsGoingToEndIsAnAnswer() {
        // Given
        Vertx vertx = Vertx.vertx();
        AtomicInteger asked = new AtomicInteger();
        try {
            HttpServer server = get(vertx.createHttpServer()
                    .requestHandler(request -> {
                        asked.incrementAndGet();
                        request.response().setStatusCode(202).end("{}");
                    })
                    .listen(0, "127.0.0.1"));

            // When
            DemoClient client = new DemoClient(vertx, server.actualPort());
            DemoClient.Answer answer = get(client.post("/v1/campaigns/7/end", "token", new JsonObject()));

            // Then
            assertThat(answer.status()).isEqualTo(202);
            assertThat(asked).hasValue(1);
        } finally {
            get(vertx.close());
        }
    }

    @Test
    void aRequestIsMadeAgainWithItsKeyUntilItsAnswerIsKnown() {
        // Given
        Vertx vertx = Vertx.vertx();
        List<String> keys = new CopyOnWriteArrayList<>();
        try {
            HttpServer server = get(vertx.createHttpServer()
                    .requestHandler(request -> {
                        keys.add(request.getHeader("Idempotency-Key"));
                        switch (keys.size()) {
                            case 1 -> request.connection().close();
                            case 2 -> request.response().setStatusCode(502).end("<html>Bad Gateway</html>");
                            case 3 -> request.response().setStatusCode(202).end("{}");
                            default -> request.response().setStatusCode(201).end("{\"amount\":5}");
                        }
                    })
                    .listen(0, "127.0.0.1"));

            // When
            DemoClient client = new DemoClient(vertx, server.actualPort());
            DemoClient.Answer answer = get(client.post("/v1/packets/7/claims", "token", new JsonObject()));

            // Then
            assertThat(answer.status()).isEqualTo(201);
            assertThat(answer.body().getInteger("amount")).isEqualTo(5);
            assertThat(keys).hasSize(4).doesNotContainNull();
            assertThat(keys.stream().distinct()).hasSize(1);
        } finally {
            get(vertx.close());
        }
    }
}
