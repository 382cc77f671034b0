package dev.hongbao.tools.bench;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** The results of one run, as a table and as JSON. Made before the run, since it notes the load of the machine. */
final class Report {
    private final Trial trial;
    private final JsonObject machine = new JsonObject()
            .put("cores", Runtime.getRuntime().availableProcessors())
            .put("load", ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage())
            .put("jdk", Runtime.version().toString())
            .put("os", System.getProperty("os.name") + " " + System.getProperty("os.arch"))
            .put("at", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());

    Report(Trial trial) {
        this.trial = trial;
    }

    void print(PrintWriter out) {
        out.printf(
                Locale.ROOT,
                "%n%d cores (load %.1f at the start), JDK %s, %s, %s; fsync and synchronous_commit on, Redis with AOF%n",
                machine.getInteger("cores"),
                machine.getDouble("load"),
                machine.getString("jdk"),
                machine.getString("os"),
                trial.versions);
        String title = trial.name + ", " + trial.percent + " % of the usual size";
        out.printf("%-56s %12s %-10s %7s %7s %8s%n", title, "median", "unit", "spread", "ratio", "target");
        for (Row row : trial.rows()) {
            out.printf(
                    Locale.ROOT,
                    "%-56s %12s %-10s %6.0f%% %7s %8s  %s%n",
                    row.name,
                    String.format(Locale.ROOT, row.median() < 10 ? "%.1f" : "%,.0f", row.median()),
                    row.unit,
                    row.spread() * 100,
                    row.hasBaseline() ? String.format(Locale.ROOT, "%.2f", row.ratio()) : "",
                    row.bound(),
                    row.verdict());
            row.cpu()
                    .ifPresent(cpu -> out.printf(
                            Locale.ROOT,
                            "  CPU of each, µs: server %.1f, Redis %.1f, Postgres %.1f, load %.1f; in all %.1f%n",
                            cpu.server(),
                            cpu.redis(),
                            cpu.postgres(),
                            cpu.load(),
                            cpu.all()));
        }
        trial.faults().forEach(fault -> out.println("FAULT " + fault));
        out.flush();
    }

    JsonObject toJson() {
        JsonArray rows = new JsonArray();
        for (Row row : trial.rows()) {
            JsonObject json = new JsonObject()
                    .put("name", row.name)
                    .put("unit", row.unit)
                    .put("median", row.median())
                    .put("spread", row.spread())
                    .put("noisy", row.isNoisy())
                    .put("rounds", new JsonArray(row.rounds()));
            if (row.hasBaseline()) {
                json.put("ratio", row.ratio());
            }
            if (row.hasBound()) {
                json.put("target", row.bound()).put("reached", row.isReached() && !row.isNoisy());
            }
            row.cpu()
                    .ifPresent(cpu -> json.put(
                            "cpuMicros",
                            new JsonObject()
                                    .put("server", cpu.server())
                                    .put("redis", cpu.redis())
                                    .put("postgres", cpu.postgres())
                                    .put("load", cpu.load())));
            rows.add(json);
        }
        return new JsonObject()
                .put("bench", trial.name)
                .put("percent", trial.percent)
                .put("machine", machine.copy().put("servers", trial.versions))
                .put("sound", trial.isSound())
                .put("faults", new JsonArray(trial.faults()))
                .put("measurements", rows);
    }

    /** Writes {@code <name>.json}. */
    Path write(Path directory) throws IOException {
        Files.createDirectories(directory);
        return Files.writeString(directory.resolve(trial.name + ".json"), toJson().encodePrettily() + "\n");
    }
}
