package dev.hongbao.http;

import static dev.hongbao.http.FaceServer.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What the log has of a request. */
class ExchangeLogIT {
    private static FaceServer server;

    private final Logger access = (Logger) LoggerFactory.getLogger("dev.hongbao.http.access");
    private final Logger events = (Logger) LoggerFactory.getLogger(Exchange.class);
    private final Level before = access.getLevel();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeAll
    static void start() throws Exception {
        server = new FaceServer();
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    @BeforeEach
    void listen() {
        log.start();
        access.addAppender(log);
        events.addAppender(log);
    }

    @AfterEach
    void leave() {
        events.detachAppender(log);
        access.detachAppender(log);
        access.setLevel(before);
    }

    private List<String> lines() {
        return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void anAnswerIsALineWithoutItsQueryWhereThatIsTurnedOn() throws Exception {
        // Given what log.access=on does, see LoggingTest
        access.setLevel(Level.INFO);
        String trace = "4bf92f3577b34da6a3ce929d0e0e4736";

        // When
        server.send(server.request("/v1/me/packets?limit=0", "alice")
                .header("X-Request-Id", "order-7")
                .header("traceparent", "00-" + trace + "-00f067aa0ba902b7-01"));

        // Then
        assertThat(lines()).hasSize(1);
        assertThat(lines().get(0)).matches("GET /v1/me/packets 400 \\d+ ms request order-7 trace " + trace);
    }

    @Test
    void aFaultIsALineWithTheIdThatItsAnswerHas() throws Exception {
        // When a call meets a fault that nobody foresaw
        HttpResponse<String> answer = server.send(server.request("/v1/me/balances", "bob"));

        // Then
        assertProblem(answer, 500, "internal-error");
        String id = answer.headers().firstValue("X-Request-Id").orElseThrow();
        assertThat(lines()).singleElement().asString().startsWith("GET /v1/me/balances failed, request " + id + ": ");
    }
}
