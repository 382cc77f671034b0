package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.joran.spi.JoranException;
import dev.hongbao.config.LogConfig;
import dev.hongbao.config.LogConfig.Format;
import dev.hongbao.config.LogConfig.Level;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

class LoggingTest {
    private static final List<String> PROPERTIES = List.of("format", "level", "libraries", "talkative");

    private final PrintStream stderr = System.err;
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    @AfterEach
    void tearDown() {
        System.setErr(stderr);
        PROPERTIES.forEach(name -> System.clearProperty("hongbao.log." + name));
    }

    private List<String> log(LogConfig config, String message) throws JoranException {
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        Logging.configure(config);
        LoggerContext context = new LoggerContext();
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(Logging.class.getResource("/logback.xml"));
        context.setMDCAdapter(new LogbackMDCAdapter());
        for (String name :
                List.of("dev.hongbao.claim.ClaimService", "io.vertx.core.Vertx", "io.netty.channel.Channel")) {
            Logger logger = context.getLogger(name);
            logger.debug("debug of {}", name);
            logger.info("info of {}", name);
            logger.warn("{}", message);
        }
        context.stop();
        return written.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void anEventIsOneLineOfText() throws JoranException {
        // When
        List<String> lines = log(new LogConfig(Format.TEXT, Level.INFO), "抢\nforged");

        // Then
        assertThat(lines).hasSize(5);
        assertThat(lines.get(0))
                .matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\S+ INFO  ClaimService +info of .*");
        assertThat(lines.get(1)).endsWith("抢 | forged");
    }

    @Test
    void anEventIsOneObjectOfJson() throws JoranException {
        // When
        List<String> lines = log(new LogConfig(Format.JSON, Level.INFO), "抢\nforged");

        // Then
        assertThat(lines).hasSize(5);
        assertThat(new JsonObject(lines.get(1)).getMap())
                .containsEntry("level", "WARN")
                .containsEntry("formattedMessage", "抢\nforged")
                .containsEntry("loggerName", "dev.hongbao.claim.ClaimService")
                .containsKey("timestamp");
    }

    @Test
    void debugIsForOurOwnEventsAndErrorForAll() throws JoranException {
        assertThat(log(new LogConfig(Format.TEXT, Level.DEBUG), "careful"))
                .hasSize(6)
                .filteredOn(line -> line.contains("debug of"))
                .hasSize(1);
        written.reset();
        assertThat(log(new LogConfig(Format.TEXT, Level.ERROR), "careful")).isEmpty();
    }
}
