package dev.hongbao.cli;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import dev.hongbao.config.HongbaoConfig.LogConfig;
import dev.hongbao.config.HongbaoConfig.LogConfig.Level;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Configures logging. Everything goes to stderr; stdout belongs to the commands' results. Logback finds this class as a service:
 * its XML would take a tenth of a second of every start. An operator's own file still wins, as logback's manual says
 * ({@code -Dlogback.configurationFile=…}).
 */
public final class Logging extends ContextAwareBase implements Configurator {
    /** One line per event. A client's control characters cannot forge a second event, nor reach the operator's terminal. */
    private static final String PATTERN =
            "%d{\"yyyy-MM-dd'T'HH:mm:ss.SSSXXX\"} %-5level %-20logger{0} %replace(%msg){'\\p{Cc}+', ' | '}%n";

    /** Libraries whose INFO lines do not help an operator. */
    private static final List<String> TALKATIVE = List.of("io.netty", "org.flywaydb", "org.postgresql");

    private static final String STDERR = "stderr";

    private static LogConfig chosen = new LogConfig(LogConfig.Format.TEXT, Level.INFO);

    /** The context of {@link #configure}; null before the first logger is made. */
    private static @Nullable LoggerContext configured;

    /**
     * Changes the logging at once, also of existing loggers: Netty creates some while the configuration is read. Lines that other
     * threads log during the call may be lost. Changes nothing if the operator supplies a logback file. Safe on any thread.
     */
    static synchronized void choose(LogConfig log) {
        LoggerContext loggers = configured;
        if (loggers != null && !log.equals(chosen)) {
            apply(loggers, log);
        }
        chosen = log;
        System.setProperty("vertx.logger-delegate-factory-class-name", "io.vertx.core.logging.SLF4JLogDelegateFactory");
    }

    /** Called by logback, once, on the thread that makes the first logger. */
    @Override
    public ExecutionStatus configure(LoggerContext loggers) {
        if (System.getProperty("logback.configurationFile") != null) {
            return ExecutionStatus.INVOKE_NEXT_IF_ANY;
        }
        begin(loggers);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    private static synchronized void begin(LoggerContext loggers) {
        apply(loggers, chosen);
        configured = loggers;
    }

    /** Replaces the settings applied before. */
    static void apply(LoggerContext loggers, LogConfig log) {
        Logger root = loggers.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.detachAppender(STDERR);
        root.addAppender(stderr(loggers, log.format()));
        // Of the libraries never more than INFO, and of the talkative ones never more than WARN.
        root.setLevel(atLeast(Level.INFO, log.level()));
        loggers.getLogger("dev.hongbao").setLevel(level(log.level()));
        loggers.getLogger("dev.hongbao.http.access")
                .setLevel(
                        log.access() == LogConfig.Access.ON
                                ? ch.qos.logback.classic.Level.INFO
                                : ch.qos.logback.classic.Level.OFF);
        TALKATIVE.forEach(name -> loggers.getLogger(name).setLevel(atLeast(Level.WARN, log.level())));
        // A notice of Postgres on a migration is no fault; "grant … on all tables" gives one for each table of another
        // owner.
        loggers.getLogger("org.flywaydb.core.internal.proprietaryStubs").setLevel(atLeast(Level.ERROR, log.level()));
        // It warns that Vert.x registers one gauge for several pools; each pool has its own by name.
        loggers.getLogger("io.micrometer").setLevel(atLeast(Level.ERROR, log.level()));
        // It logs a stack trace for each connection that arrives while a stop closes the port.
        loggers.getLogger("io.netty.bootstrap.ServerBootstrap").setLevel(atLeast(Level.ERROR, log.level()));
        // It logs malformed HTTP/2 of a client as an error before any handler sees it, so a client could fill the log.
        loggers.getLogger("io.vertx.core.net.impl.ConnectionBase").setLevel(ch.qos.logback.classic.Level.OFF);
        // It warns with a stack trace each time Vert.x resets a stream that it never knew.
        loggers.getLogger("io.netty.util.concurrent.DefaultPromise").setLevel(atLeast(Level.ERROR, log.level()));
        // It logs a stack trace when Vert.x closes its last client as it stops, before the reason of a refused start.
        loggers.getLogger("io.netty.util.concurrent.DefaultPromise.rejectedExecution")
                .setLevel(ch.qos.logback.classic.Level.OFF);
    }

    private static ConsoleAppender<ILoggingEvent> stderr(LoggerContext loggers, LogConfig.Format format) {
        ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
        appender.setContext(loggers);
        appender.setName(STDERR);
        appender.setTarget("System.err");
        appender.setEncoder(format == LogConfig.Format.JSON ? json(loggers) : text(loggers));
        appender.start();
        return appender;
    }

    private static Encoder<ILoggingEvent> text(LoggerContext loggers) {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(loggers);
        encoder.setCharset(StandardCharsets.UTF_8);
        encoder.setPattern(PATTERN);
        encoder.start();
        return encoder;
    }

    /** One object a line. */
    private static Encoder<ILoggingEvent> json(LoggerContext loggers) {
        JsonEncoder encoder = new JsonEncoder();
        encoder.setContext(loggers);
        encoder.setWithMessage(false);
        encoder.setWithArguments(false);
        encoder.setWithFormattedMessage(true);
        encoder.setWithSequenceNumber(false);
        encoder.setWithNanoseconds(false);
        encoder.setWithContext(false);
        encoder.start();
        return encoder;
    }

    private static ch.qos.logback.classic.Level atLeast(Level floor, Level level) {
        return level(level.compareTo(floor) > 0 ? level : floor);
    }

    private static ch.qos.logback.classic.Level level(Level level) {
        return ch.qos.logback.classic.Level.valueOf(level.name());
    }
}
