package dev.hongbao.config;

import java.time.Duration;

/** The log on stderr. */
public record LogConfig(
        @ConfigOption(
                path = "log.format",
                unset = "text",
                doc = "The format of lines on stderr: text for people, or JSON for machines.")
        Format format,

        @ConfigOption(
                path = "log.level",
                unset = "info",
                doc = "The least severe level of Hongbao's own events. debug also shows stack traces of a failed"
                        + " start.")
        Level level,

        @ConfigOption(
                path = "log.access",
                unset = "off",
                doc = "Whether each answer gets a line: method, path, status, time, the request's id and its trace.")
        Access access,

        @ConfigOption(
                path = "log.slow-claim",
                range = "0s … 1m",
                unset = "0s",
                doc = "A claim that is answered later than this gets a line with its packet, shard and outcome; 0s"
                        + " for none.")
        Duration slowClaim) {
    /** Without access lines and slow claims. */
    public LogConfig(Format format, Level level) {
        this(format, level, Access.OFF, Duration.ZERO);
    }

    /** Whether each answer gets a line. */
    public enum Access {
        OFF,
        ON
    }

    /** The format of a line. */
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
