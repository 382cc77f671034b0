package dev.hongbao.tools.bench;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What one benchmark measured, as a table for people and as JSON for machines. Not thread-safe. */
final class Findings {
    private final String name;
    private final List<Line> lines = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();
    private final Exhibits exhibits = new Exhibits();
    private final JsonObject machine = Machine.toJson();
    private String versions = "";

    /**
     * One line of the table.
     *
     * @param baseline what the measurement is divided by; null for none
     * @param target the least ratio wanted; 0 for none
     * @param least the lowest median wanted, in the measurement's unit; 0 for none
     * @param most the highest median wanted, in the measurement's unit; 0 for none
     */
    record Line(Measurement measured, @Nullable Measurement baseline, double target, double least, double most) {
        /** The ratio of the medians; NaN without a baseline. */
        double ratio() {
            return baseline == null ? Double.NaN : measured.median() / baseline.median();
        }

        /** Whether a bound is wanted, not a ratio. */
        boolean isBounded() {
            return least > 0 || most > 0;
        }

        private boolean isWithin(double value) {
            return value >= least && (most == 0 || value <= most);
        }

        /** Rounds that differ, but all keep to the bound, or all break it, agree on what matters. */
        boolean isNoisy() {
            if (isBounded() && measured.rounds().stream().allMatch(round -> isWithin(round) == isReached())) {
                return false;
            }
            return measured.isNoisy() || baseline != null && baseline.isNoisy();
        }

        boolean hasTarget() {
            return target > 0 || isBounded();
        }

        boolean isReached() {
            return isBounded() ? isWithin(measured.median()) : ratio() >= target;
        }

        String wanted() {
            if (most > 0) {
                return String.format(Locale.ROOT, "≤%,.0f", most);
            }
            if (least > 0) {
                return String.format(Locale.ROOT, "≥%,.0f", least);
            }
            return target > 0 ? String.format(Locale.ROOT, "%.2f", target) : "";
        }

        String verdict() {
            if (!hasTarget()) {
                return measured.isNoisy() ? "noisy" : "";
            }
            String reached = isReached() ? "reached" : "MISSED";
            return isNoisy() ? reached + ", but noisy: no result" : reached;
        }
    }

    Findings(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }

    List<Line> lines() {
        return List.copyOf(lines);
    }

    /** Says on which servers it was measured. */
    void on(String serverVersions) {
        versions = serverVersions;
    }

    Exhibits exhibits() {
        return exhibits;
    }

    List<String> faults() {
        return List.copyOf(faults);
    }

    /** A measurement for its own sake. */
    Measurement measure(String what, String unit) {
        return measure(what, unit, null, 0);
    }

    /** A measurement that is held against another one. */
    Measurement measure(String what, String unit, @Nullable Measurement baseline, double target) {
        Measurement measurement = new Measurement(what, unit);
        lines.add(new Line(measurement, baseline, target, 0, 0));
        return measurement;
    }

    /** A measurement whose median is to be no lower than {@code least}. */
    Measurement atLeast(String what, String unit, double least) {
        Measurement measurement = new Measurement(what, unit);
        lines.add(new Line(measurement, null, 0, least, 0));
        return measurement;
    }

    /** A measurement whose median is to be no higher than {@code most}. */
    Measurement atMost(String what, String unit, double most) {
        Measurement measurement = new Measurement(what, unit);
        lines.add(new Line(measurement, null, 0, 0, most));
        return measurement;
    }

    /** A quantity that one look is enough for: it does not depend on how busy the machine is, or is only told. */
    Measurement once(String what, String unit) {
        return once(what, unit, 0);
    }

    /** The same, to be no higher than {@code most}. */
    Measurement once(String what, String unit, double most) {
        Measurement measurement = new Measurement(what, unit, true);
        lines.add(new Line(measurement, null, 0, 0, most));
        return measurement;
    }

    /** Something that makes every number of this run worthless. */
    void fault(String what) {
        faults.add(what);
    }

    boolean isSound() {
        return faults.isEmpty();
    }

    void print(PrintWriter out) {
        out.printf("%n%s%n", Machine.describe(machine, versions));
        out.printf("%-46s %12s %-9s %7s %7s %8s  %s%n", name, "median", "", "spread", "ratio", "target", "");
        for (Line line : lines) {
            Measurement m = line.measured();
            out.printf(
                    Locale.ROOT,
                    "%-46s %,12.0f %-9s %6.0f%% %7s %8s  %s%n",
                    m.name(),
                    m.median(),
                    m.unit(),
                    m.spread() * 100,
                    line.baseline() == null ? "" : String.format(Locale.ROOT, "%.2f", line.ratio()),
                    line.wanted(),
                    line.verdict());
        }
        exhibits.print(out);
        faults.forEach(fault -> out.println("FAULT " + fault));
        out.flush();
    }

    JsonObject toJson() {
        JsonArray rows = new JsonArray();
        for (Line line : lines) {
            Measurement m = line.measured();
            JsonObject row = new JsonObject()
                    .put("name", m.name())
                    .put("unit", m.unit())
                    .put("median", m.median())
                    .put("spread", m.spread())
                    .put("noisy", line.isNoisy())
                    .put("rounds", new JsonArray(m.rounds()));
            if (line.baseline() != null) {
                row.put("ratio", line.ratio());
            }
            if (line.target() > 0) {
                row.put("target", line.target());
            }
            if (line.least() > 0) {
                row.put("atLeast", line.least());
            }
            if (line.most() > 0) {
                row.put("atMost", line.most());
            }
            if (line.hasTarget()) {
                row.put("reached", line.isReached() && !line.isNoisy());
            }
            rows.add(row);
        }
        JsonObject json = new JsonObject()
                .put("bench", name)
                .put("machine", machine.copy().put("servers", versions))
                .put("sound", isSound())
                .put("faults", new JsonArray(faults))
                .put("measurements", rows);
        exhibits.putInto(json);
        return json;
    }

    /** Writes {@code <name>.json}; returns the file. */
    Path write(Path directory) throws IOException {
        Files.createDirectories(directory);
        return Files.writeString(directory.resolve(name + ".json"), toJson().encodePrettily() + "\n");
    }
}
