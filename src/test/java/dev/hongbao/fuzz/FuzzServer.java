package dev.hongbao.fuzz;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/** The whole server in this JVM, what it logs as an error, and how it is in the end. */
final class FuzzServer implements AutoCloseable {
    /** Nobody is slowed down for what comes too often: that is tested elsewhere. */
    private static final Map<String, String> OPTIONS = Map.ofEntries(
            Map.entry("limits.claims-per-second", "0"),
            Map.entry("limits.requests-per-second", "0"),
            Map.entry("limits.shares-per-second", "0"),
            Map.entry("limits.calls-in-flight", "0"),
            Map.entry("limits.service-calls-in-flight", "0"),
            Map.entry("limits.polls-in-flight", "0"),
            Map.entry("limits.wrong-passcodes-per-minute", "0"),
            Map.entry("limits.wrong-passcodes-per-packet", "0"),
            Map.entry("socket.messages-per-second", "100000"),
            Map.entry("socket.max-per-user", "100000"),
            Map.entry("http.event-loops", "2"));

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int MOST_ERRORS = 10;

    private final TestServers servers;
    private final TestServer server;
    private final World world;
    private final Errors errors = new Errors();

    /** What is logged as an error, or with a stack trace: who likes could fill the log with them. */
    private static final class Errors extends AppenderBase<ILoggingEvent> {
        private static final Pattern BLOCKED = Pattern.compile("has been blocked for (\\d+) ms");

        /** A loop that waits so long may have had no core: a busy machine's fault, no input's. A longer wait is told again each second. */
        private static final long MACHINES_PAUSE_MILLIS = 5_000;

        private final Queue<String> lines = new ConcurrentLinkedQueue<>();

        @Override
        protected void append(ILoggingEvent event) {
            var thrown = event.getThrowableProxy();
            Matcher blocked = BLOCKED.matcher(event.getFormattedMessage());
            boolean isPause = blocked.find() && Long.parseLong(blocked.group(1)) < MACHINES_PAUSE_MILLIS;
            boolean isTold = !isPause && (thrown != null || event.getLevel().isGreaterOrEqual(Level.ERROR));
            if (isTold && lines.size() < MOST_ERRORS) {
                lines.add(event.getLoggerName() + " " + event.getFormattedMessage()
                        + (thrown == null
                                ? ""
                                : " " + thrown.getClassName() + ": " + thrown.getMessage() + " at "
                                        + List.of(thrown.getStackTraceElementProxyArray())
                                                .subList(
                                                        0,
                                                        Math.min(6, thrown.getStackTraceElementProxyArray().length))));
            }
        }
    }

    FuzzServer(TestServers servers, ContractText contract) throws Exception {
        this.servers = servers;
        this.server = TestServer.start(servers, OPTIONS);
        this.world = new World(server.base().getPort(), server.secret());
        world.make(contract);
        root().addAppender(errors);
        errors.start();
    }

    private static Logger root() {
        return (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    }

    World world() {
        return world;
    }

    int managementPort() {
        return server.management().getPort();
    }

    /** Waits until it is quiet, and looks at it as its operator does. */
    void check(Findings findings) {
        errors.lines.forEach(line -> findings.add("logged as an error, or with a stack trace: " + line));
        try {
            Eventually.eventually(SOON, this::requireReady);
            Eventually.eventually(SOON, new Books(servers)::assertReconciled);
        } catch (AssertionError not) {
            findings.add("afterwards: " + not.getMessage());
        }
    }

    private void requireReady() throws Exception {
        URI ready = server.management().resolve("/health/ready");
        var answer =
                HttpClient.newHttpClient().send(HttpRequest.newBuilder(ready).build(), BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new AssertionError(answer.body());
        }
    }

    @Override
    public void close() {
        root().detachAppender(errors);
        server.close();
    }
}
