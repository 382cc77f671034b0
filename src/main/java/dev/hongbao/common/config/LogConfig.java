package dev.hongbao.common.config;

/** What operators read, on stderr. */
public record LogConfig(Format format, Level level) {
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
        return new LogConfig(values.get(Options.LOG_FORMAT), values.get(Options.LOG_LEVEL));
    }

    /** Whether stack traces of a failed start are shown. */
    public boolean isDebug() {
        return level.compareTo(Level.DEBUG) <= 0;
    }
}
