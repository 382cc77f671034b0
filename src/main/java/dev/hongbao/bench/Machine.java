package dev.hongbao.bench;

import io.vertx.core.json.JsonObject;
import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** What the numbers were measured on: absolute ones mean nothing without it. */
final class Machine {
    private Machine() {}

    static String describe() {
        return String.format(
                Locale.ROOT,
                "%d cores (load %.1f), JDK %s, %s %s; Postgres with fsync and synchronous_commit on, Redis with its AOF",
                cores(),
                load(),
                Runtime.version(),
                System.getProperty("os.name"),
                System.getProperty("os.arch"));
    }

    static JsonObject toJson() {
        return new JsonObject()
                .put("cores", cores())
                .put("load", load())
                .put("jdk", Runtime.version().toString())
                .put("os", System.getProperty("os.name") + " " + System.getProperty("os.arch"))
                .put("at", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    }

    private static int cores() {
        return Runtime.getRuntime().availableProcessors();
    }

    /** Processes that wanted to run in the last minute. */
    private static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }
}
