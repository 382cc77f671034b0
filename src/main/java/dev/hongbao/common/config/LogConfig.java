package dev.hongbao.common.config;

import java.time.Duration;

/** What operators read, on stderr. */
public record LogConfig(
        @ConfigOption(path = "log.format", unset = "text", doc = "Lines for people, or JSON for machines; on stderr.")
        Format format,

        @ConfigOption(
                path = "log.level",
                unset = "info",
                doc = "The least severe of Hongbao's own events to write; debug also shows stack traces of a failed"
                        + " start.")
        Level level,

        @ConfigOption(
                path = "log.access",
                unset = "off",
                doc = "Whether each answer is a line: method, path, status, time, the request's id and its trace.")
        Access access,

        @ConfigOption(
                path = "log.slow-claim",
                range = "0s … 1m",
                unset = "0s",
                doc = "A claim whose answer takes longer is a line with its packet, its shard and its outcome; 0s"
                        + " is none.")
        Duration slowClaim) {
    /** Without lines of their own for answers and slow claims. */
    public LogConfig(Format format, Level level) {
        this(format, level, Access.OFF, Duration.ZERO);
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

    /** Whether stack traces of a failed start are shown. */
    public boolean isDebug() {
        return level.compareTo(Level.DEBUG) <= 0;
    }
}
