package dev.hongbao.tools.bench;

import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/** The results of one run, as a table. Made before the run, since it notes the load of the machine. */
final class Report {
    private final Trial trial;
    private final double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();

    Report(Trial trial) {
        this.trial = trial;
    }

    void print(PrintWriter out) {
        out.printf(
                Locale.ROOT,
                "%n%d cores (load %.1f at the start), JDK %s, %s %s; fsync and synchronous_commit on, Redis with AOF%n",
                Runtime.getRuntime().availableProcessors(),
                load,
                Runtime.version(),
                System.getProperty("os.name"),
                System.getProperty("os.arch"));
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
        }
        trial.faults().forEach(fault -> out.println("FAULT " + fault));
        out.flush();
    }
}
