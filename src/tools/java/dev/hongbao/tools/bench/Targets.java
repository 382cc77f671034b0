package dev.hongbao.tools.bench;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** What was aimed at, and whether it was met, over several benchmarks. */
final class Targets {
    private Targets() {}

    static void print(List<Findings> all, PrintWriter out) {
        out.printf("%n%-10s%-56s %12s %12s  %s%n", "bench", "target", "measured", "wanted", "");
        for (Findings findings : all) {
            for (Findings.Line line : findings.lines()) {
                if (line.hasTarget()) {
                    out.printf(
                            Locale.ROOT,
                            "%-10s%-56s %12s %12s  %s%n",
                            findings.name(),
                            line.measured().name().strip(),
                            measured(line),
                            line.wanted().text(),
                            line.verdict());
                }
            }
            findings.faults().forEach(fault -> out.println("FAULT in " + findings.name() + ": " + fault));
        }
        out.flush();
    }

    private static String measured(Findings.Line line) {
        return line.wanted().isRatio()
                ? String.format(Locale.ROOT, "%.2f ×", line.ratio())
                : String.format(
                        Locale.ROOT,
                        "%,.0f %s",
                        line.measured().median(),
                        line.measured().unit());
    }
}
