package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.config.ListenAddress;
import dev.hongbao.http.ConnectionCap.ClientAddresses;
import dev.hongbao.http.Exchange.AnswerWriter;
import dev.hongbao.http.Exchange.HttpMetrics;
import dev.hongbao.http.HttpSettings.Origins;
import dev.hongbao.http.HttpSettings.Timeouts;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.UserId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.SocketAddress;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Who goes when there is no room. */
class ConnectionsTest {
    private final AtomicLong nanos = new AtomicLong(1);
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final ConnectionCap cap = new ConnectionCap(3, 2, ClientAddresses.of(List.of()), meters);
    private final Connections connections = loop(Runnable::run);
    private final HttpMetrics metrics = HttpMetrics.of(meters, Contract.load());
    private final Exchange exchange = newExchange();

    private Exchange newExchange() {
        return new Exchange(null, request(null), metrics, connections);
    }

    /** Without headers. */
    private static HttpServerRequest request(@Nullable HttpConnection connection) {
        return (HttpServerRequest) Proxy.newProxyInstance(
                ConnectionsTest.class.getClassLoader(),
                new Class<?>[] {HttpServerRequest.class},
                (self, method, args) -> method.getName().equals("connection") ? connection : null);
    }

    private Connections loop(Executor executor) {
        Duration ten = Duration.ofSeconds(10);
        Timeouts timeouts = new Timeouts(ten, ten, Duration.ofSeconds(75), ten, ten, ten);
        HttpSettings settings =
                new HttpSettings(new ListenAddress("127.0.0.1", 0), 1, timeouts, new Origins(List.of()), "", List.of());
        return new Connections(settings, cap, executor, nanos::incrementAndGet);
    }

    /** Its client is gone; Vert.x no longer calls its close handler. */
    private static HttpServerRequest abandoned() {
        HttpServerResponse response = (HttpServerResponse) Proxy.newProxyInstance(
                ConnectionsTest.class.getClassLoader(),
                new Class<?>[] {HttpServerResponse.class},
                (self, method, args) -> method.getName().equals("closed") ? true : self);
        return (HttpServerRequest) Proxy.newProxyInstance(
                ConnectionsTest.class.getClassLoader(),
                new Class<?>[] {HttpServerRequest.class},
                (self, method, args) -> method.getName().equals("response") ? response : null);
    }

    @Test
    void aPollWhoseClientIsGoneIsNotBegun() {
        AtomicInteger polls = new AtomicInteger();
        CallsInFlight inFlight = new CallsInFlight(1, 1, 1, 1_000);
        Caller shop = new Caller(new UserId("shop"), Set.of(), Role.SERVICE, Instant.MAX);
        Exchange exchange = new Exchange(null, abandoned(), metrics, connections);
        Call call = new Call(exchange, shop, Map.of(), Map.of(), null, null);

        Future<Object> answer = new CallsInFlight.WaitingPolls(polls, inFlight, 1_000).answer(call, 20, () -> {
            throw new AssertionError("it is begun");
        });

        assertThat(answer.cause()).isInstanceOf(HttpClosedException.class);
        assertThat(polls).hasValue(0);
        inFlight.beginPoll(shop);
    }

    /** A connection of an address, that only knows whether it is closed. */
    private static final class Peer {
        private final HttpConnection connection;
        private Handler<Void> ended = none -> {};
        private boolean closed;

        @SuppressWarnings("unchecked")
        private Peer(String address) {
            connection = (HttpConnection) Proxy.newProxyInstance(
                    Peer.class.getClassLoader(),
                    new Class<?>[] {HttpConnection.class},
                    (self, method, args) -> switch (method.getName()) {
                        case "remoteAddress" -> SocketAddress.inetSocketAddress(1, address);
                        case "closeHandler" -> {
                            ended = (Handler<Void>) args[0];
                            yield self;
                        }
                        case "close" -> {
                            close();
                            yield Future.succeededFuture();
                        }
                        case "hashCode" -> System.identityHashCode(self);
                        case "equals" -> self == args[0];
                        default -> throw new UnsupportedOperationException(method.getName());
                    });
        }

        private void close() {
            closed = true;
            ended.handle(null);
        }
    }

    private Peer open(String address) {
        return open(connections, address);
    }

    private static Peer open(Connections loop, String address) {
        Peer peer = new Peer(address);
        loop.opened(peer.connection);
        return peer;
    }

    private double openNow() {
        return meters.get("hongbao_http_connections").gauge().value();
    }

    @Test
    void theOneIdleLongestMakesRoom() {
        // Given three, of which the first was used last
        Peer first = open("203.0.113.1");
        Peer second = open("203.0.113.2");
        Peer third = open("203.0.113.3");
        connections.began(first.connection, exchange);
        connections.answered(first.connection, exchange);

        Peer fourth = open("203.0.113.4");

        assertThat(second.closed).isTrue();
        assertThat(List.of(first.closed, third.closed, fourth.closed)).containsOnly(false);
        assertThat(openNow()).isEqualTo(3);
    }

    @Test
    void oneWithAnotherRequestInFlightStays() {
        // Given two requests on one connection, of which the first is answered, and says so twice
        Exchange other = newExchange();
        Peer busy = open("203.0.113.1");
        connections.began(busy.connection, exchange);
        connections.began(busy.connection, other);
        connections.answered(busy.connection, exchange);
        connections.answered(busy.connection, exchange);

        // When
        for (int i = 2; i < 7; i++) {
            open("203.0.113." + i);
        }

        // Then it stays, until the second is answered
        assertThat(busy.closed).isFalse();
        connections.answered(busy.connection, other);
        for (int i = 7; i < 10; i++) {
            open("203.0.113." + i);
        }
        assertThat(busy.closed).isTrue();
    }

    @Test
    void theOneIdleLongestOfAllLoopsMakesRoom() {
        // Given
        Peer first = open("203.0.113.1");
        Connections other = loop(Runnable::run);
        Peer second = open(other, "203.0.113.2");
        Peer third = open(other, "203.0.113.3");

        // When
        Peer fourth = open(other, "203.0.113.4");

        // Then
        assertThat(first.closed).isTrue();
        assertThat(List.of(second.closed, third.closed, fourth.closed)).containsOnly(false);
        assertThat(openNow()).isEqualTo(3);
    }

    @Test
    void oneOnWhichARequestHasJustBegunStaysAndTheNextMakesRoom() {
        // Given one that is about to be closed on its own loop
        Deque<Runnable> tasks = new ArrayDeque<>();
        Connections busy = loop(tasks::add);
        Peer first = open(busy, "203.0.113.1");
        Peer second = open("203.0.113.2");
        Peer third = open("203.0.113.3");
        Peer fourth = open("203.0.113.4");
        assertThat(tasks).hasSize(1);

        // When its request arrives before
        busy.began(first.connection, exchange);
        tasks.remove().run();

        // Then
        assertThat(second.closed).isTrue();
        assertThat(List.of(first.closed, third.closed, fourth.closed)).containsOnly(false);
        assertThat(openNow()).isEqualTo(3);
    }

    @Test
    void neverOneThatWaitsForItsAnswerNorASocket() {
        // Given two that wait for their answer, and a WebSocket
        Peer first = open("203.0.113.1");
        Peer second = open("203.0.113.2");
        Peer socket = open("203.0.113.3");
        connections.began(first.connection, exchange);
        connections.began(second.connection, exchange);
        connections.began(socket.connection, exchange);
        Runnable ended = connections.becameSocket(socket.connection);

        // When one more comes, then it is closed
        assertThat(open("203.0.113.4").closed).isTrue();
        assertThat(List.of(first.closed, second.closed, socket.closed)).containsOnly(false);
        assertThat(openNow()).isEqualTo(3);

        // And the end of the socket is room again
        ended.run();
        assertThat(open("203.0.113.4").closed).isFalse();
        assertThat(openNow()).isEqualTo(3);
    }

    @Test
    void oneThatWaitsForNothingButAClientWhoDoesNotReadMakesRoom() {
        // Given three that are answered, and of two of them nobody takes the answer; one has another request in flight
        Peer unread = open("203.0.113.1");
        Peer busy = open("203.0.113.2");
        Peer third = open("203.0.113.3");
        AnswerWriter answer = writes(unread);
        AnswerWriter other = writes(busy);
        connections.began(busy.connection, newExchange());
        connections.began(third.connection, newExchange());
        assertThat(open("203.0.113.4").closed).as("they may only be slow").isTrue();

        // When it has been so for a while
        nanos.addAndGet(Duration.ofSeconds(2).toNanos());
        connections.sweep();
        Peer more = open("203.0.113.5");

        // Then
        assertThat(unread.closed).isTrue();
        assertThat(List.of(busy.closed, third.closed, more.closed)).containsOnly(false);
        connections.wrote(answer);
        connections.wrote(other);
    }

    @Test
    void oneWhoseClientReadsOnStays() {
        // Given two that are being answered, and whose clients take the answers late
        Peer reads = open("203.0.113.1");
        Peer third = open("203.0.113.3");
        AnswerWriter answer = writes(reads);
        connections.began(third.connection, newExchange());
        nanos.addAndGet(Duration.ofSeconds(2).toNanos());
        connections.sweep();

        // When
        connections.wrote(answer);
        connections.writes(answer);
        open("203.0.113.2");

        // Then
        assertThat(open("203.0.113.4").closed).isFalse();
        assertThat(reads.closed).isFalse();
    }

    @Test
    void whoTakesNothingOfItsAnswerInTimeIsClosedAndNotBefore() {
        Peer unread = open("203.0.113.1");
        Peer reads = open("203.0.113.2");
        AnswerWriter answer = writes(reads);
        writes(unread);
        nanos.addAndGet(Duration.ofSeconds(9).toNanos());
        connections.sweep();
        assertThat(unread.closed).isFalse();

        // When
        connections.wrote(answer);
        connections.writes(answer);
        nanos.addAndGet(Duration.ofSeconds(2).toNanos());
        connections.sweep();

        // Then
        assertThat(unread.closed).isTrue();
        assertThat(reads.closed).isFalse();
    }

    /** A request that is answered, of which something waits for the client. */
    private AnswerWriter writes(Peer peer) {
        AnswerWriter answer = new AnswerWriter(request(peer.connection), connections);
        connections.began(peer.connection, newExchange());
        connections.writes(answer);
        return answer;
    }

    @Test
    void anAddressHasSoManyAndOthersAreNotClosedForIt() {
        Peer first = open("203.0.113.1");
        Peer second = open("203.0.113.1");

        assertThat(open("203.0.113.1").closed).isTrue();
        assertThat(openNow()).isEqualTo(2);
        assertThat(open("203.0.113.2").closed).isFalse();

        // And when one of them ends, there is room for another
        second.close();
        assertThat(open("203.0.113.1").closed).isFalse();
        assertThat(first.closed).isFalse();
    }

    @Test
    void theLogNamesAnAddressAtItsLimit() {
        // Given
        Logger logger = (Logger) LoggerFactory.getLogger(ConnectionCap.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        try {
            // When
            List.of(open("203.0.113.1"), open("203.0.113.1"), open("203.0.113.1"));

            // Then
            assertThat(log.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .anyMatch(line -> line.contains("203.0.113.1 "));
        } finally {
            logger.detachAppender(log);
        }
    }

    @Test
    void loopbackHasAsManyAsThereAre() {
        List<Peer> local = List.of(open("127.0.0.1"), open("127.0.0.1"), open("::1"));

        assertThat(local).noneMatch(peer -> peer.closed);
    }

    @Test
    void whoSendsNoHeaderInTimeIsClosed() {
        Peer silent = open("203.0.113.1");
        Peer waiting = open("203.0.113.2");
        connections.began(waiting.connection, exchange);
        nanos.addAndGet(Duration.ofMinutes(5).toNanos());

        connections.sweep();

        assertThat(silent.closed).isTrue();
        assertThat(waiting.closed).isFalse();
    }
}
