package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An open loop, against a server that behaves badly. */
class HttpLoadIT {
    private static final int STALL_MILLIS = 600;

    private final Vertx vertx = Vertx.vertx();

    @AfterEach
    void stop() throws Exception {
        BenchBed.await(vertx.close());
    }

    /** Refuses every tenth request, and answers none of those that come while it stalls until it is over. */
    private int start() throws Exception {
        AtomicInteger seen = new AtomicInteger();
        HttpServer server = vertx.createHttpServer().requestHandler(request -> {
            int n = seen.incrementAndGet();
            if (n == 100) {
                long until = System.nanoTime() + STALL_MILLIS * 1_000_000L;
                while (System.nanoTime() < until) {
                    Thread.onSpinWait();
                }
            }
            if (n % 10 == 0) {
                request.response().setStatusCode(503).putHeader("Retry-After", "1");
            } else {
                request.response().setStatusCode(201);
            }
            request.response().end("{}");
        });
        return BenchBed.await(server.listen(0, "127.0.0.1")).actualPort();
    }

    private static final class Same implements HttpLoad.Requests {
        private static final byte[] BYTES =
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

        @Override
        public long count() {
            return 400;
        }

        @Override
        public void write(long n, ByteBuffer to) {
            to.put(BYTES);
        }
    }

    @Test
    void aLoadThatDidNothingIsATrouble() {
        HttpLoad.Outcome outcome = new HttpLoad.Outcome();
        assertThat(outcome.troubles()).isEqualTo("no request was answered");

        outcome.done.recordValue(1);
        assertThat(outcome.troubles()).isEmpty();
    }

    @Test
    void whatWasDueDuringAStallCountsFromWhenItWasDue() throws Exception {
        // Given 200 requests a second over only two connections, and time enough for all of them
        Duration enough = Duration.ofSeconds(20);
        HttpLoad load = new HttpLoad(List.of(start()), 2).perSecond(200).patience(enough);

        // When the server stalls for 600 ms, which is 120 requests
        HttpLoad.Outcome outcome = load.run(new Same(), enough);

        // Then all are answered, and not only the two that were sent meanwhile have waited
        long claimed = outcome.done.getTotalCount();
        long refused = outcome.refusedSinceSent.getTotalCount();
        assertThat(claimed + refused).isEqualTo(400);
        assertThat(refused).isEqualTo(40);
        assertThat(outcome.unanswered + outcome.unsent + outcome.others + outcome.withoutRetryAfter)
                .isZero();
        long longWaits = outcome.done.getCountBetweenValues(200_000, 60_000_000);
        assertThat(longWaits).isGreaterThan(60);
    }
}
