package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator.ExecutionStatus;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import dev.hongbao.config.HongbaoConfig.LogConfig;
import dev.hongbao.config.HongbaoConfig.LogConfig.Format;
import dev.hongbao.config.HongbaoConfig.LogConfig.Level;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

class LoggingTest {
    private final PrintStream stderr = System.err;
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    @AfterEach
    void tearDown() {
        System.setErr(stderr);
    }

    private List<String> log(LogConfig config, String message) {
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        LoggerContext context = new LoggerContext();
        Logging.apply(context, config);
        context.setMDCAdapter(new LogbackMDCAdapter());
        for (String name : List.of(
                "dev.hongbao.packet.ClaimService",
                "dev.hongbao.http.access",
                "io.vertx.core.Vertx",
                "io.netty.channel.Channel")) {
            Logger logger = context.getLogger(name);
            logger.debug("debug of {}", name);
            logger.info("info of {}", name);
            logger.warn("{}", message);
        }
        context.stop();
        return written.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void anEventIsOneLineOfText() {
        // When
        List<String> lines = log(new LogConfig(Format.TEXT, Level.INFO), "抢\r\nforged\t\u001b[31mred\u009b31m\u007f!");

        // Then
        assertThat(lines).hasSize(5);
        assertThat(lines.get(0))
                .matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\S+ INFO  ClaimService +info of .*");
        assertThat(lines.get(1)).endsWith("抢 | forged | [31mred | 31m | !");
    }

    @Test
    void anEventIsOneObjectOfJson() {
        // When
        List<String> lines = log(new LogConfig(Format.JSON, Level.INFO), "抢\nforged");

        // Then
        assertThat(lines).hasSize(5);
        assertThat(new JsonObject(lines.get(1)).getMap())
                .containsEntry("level", "WARN")
                .containsEntry("formattedMessage", "抢\nforged")
                .containsEntry("loggerName", "dev.hongbao.packet.ClaimService")
                .containsKey("timestamp");
    }

    @Test
    void anOperatorsOwnFileWins() {
        // Given
        System.setProperty("logback.configurationFile", "/etc/hongbao/logback.xml");

        // When
        ExecutionStatus status;
        try {
            status = new Logging().configure(new LoggerContext());
        } finally {
            System.clearProperty("logback.configurationFile");
        }

        // Then
        assertThat(status).isEqualTo(ExecutionStatus.INVOKE_NEXT_IF_ANY);
    }

    @Test
    void debugIsForOurOwnEventsAndErrorForAll() {
        assertThat(log(new LogConfig(Format.TEXT, Level.DEBUG), "careful"))
                .hasSize(6)
                .filteredOn(line -> line.contains("debug of"))
                .hasSize(1);
        written.reset();
        assertThat(log(new LogConfig(Format.TEXT, Level.ERROR), "careful")).isEmpty();
    }

    @Test
    void answersAreLinesWhereThatIsTurnedOn() {
        // When
        List<String> lines =
                log(new LogConfig(Format.TEXT, Level.ERROR, LogConfig.Access.ON, Duration.ZERO), "answered");

        // Then whatever else is written
        assertThat(lines).hasSize(2);
        assertThat(lines.get(0)).endsWith("info of dev.hongbao.http.access");
        assertThat(lines.get(1)).endsWith("answered");
    }

    @Test
    void aRefusedStartEndsWithItsReasonAndNotWithAStackOfNetty() {
        LoggerContext loggers = new LoggerContext();

        Logging.apply(loggers, new LogConfig(Format.TEXT, Level.INFO));

        assertThat(loggers.getLogger("io.netty.util.concurrent.DefaultPromise.rejectedExecution")
                        .isErrorEnabled())
                .isFalse();
    }
}
