package dev.hongbao.cli;

import dev.hongbao.config.LogConfig;
import dev.hongbao.config.LogConfig.Level;
import java.util.Locale;

/** Tells logback (logback.xml reads these system properties) what the configuration says. */
final class Logging {
    private Logging() {}

    /** Must run before the first logger is made; later calls change nothing. */
    static void configure(LogConfig log) {
        System.setProperty("hongbao.log.format", log.format().name().toLowerCase(Locale.ROOT));
        System.setProperty("hongbao.log.level", log.level().name());
        // Of the libraries never more than INFO, and of the talkative ones never more than WARN.
        System.setProperty("hongbao.log.libraries", atLeast(Level.INFO, log.level()));
        System.setProperty("hongbao.log.talkative", atLeast(Level.WARN, log.level()));
        System.setProperty("vertx.logger-delegate-factory-class-name", "io.vertx.core.logging.SLF4JLogDelegateFactory");
    }

    private static String atLeast(Level floor, Level level) {
        return (level.compareTo(floor) > 0 ? level : floor).name();
    }
}
