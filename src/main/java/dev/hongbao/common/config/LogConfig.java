package dev.hongbao.common.config;

import java.time.Duration;

/**
 * What operators read, on stderr.
 *
 * @param access whether each answer is a line
 * @param slowClaim a claim that takes longer is a line; 0 for none
 */
public record LogConfig(Format format, Level level, Access access, Duration slowClaim) {
    /** Without lines of their own for answers and slow claims. */
    public LogConfig(Format format, Level level) {
        this(format, level, Access.OFF, Duration.ZERO);
    }

    public LogConfig {
        Options.LOG_SLOW_CLAIM.require(slowClaim);
    }

    /** Whether each answer is a line. */
    public enum Access {
        OFF,
        ON
    }

    /** How a line looks. */
    public enum Format {
        /** For people. */
        TEXT,
        /** One JSON object a line, for machines. */
        JSON
    }

    /** The least severe event that is written. */
    public enum Level {
        TRACE,
        DEBUG,
        INFO,
        WARN,
        ERROR
    }

    static LogConfig from(OptionValues values) {
        return new LogConfig(
                values.get(Options.LOG_FORMAT),
                values.get(Options.LOG_LEVEL),
                values.get(Options.LOG_ACCESS),
                values.get(Options.LOG_SLOW_CLAIM));
    }

    /** Whether stack traces of a failed start are shown. */
    public boolean isDebug() {
        return level.compareTo(Level.DEBUG) <= 0;
    }
}
