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
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** What one benchmark measured, as a table for people and as JSON for machines. Not thread-safe. */
final class Findings {
    private final String name;
    private final List<Line> lines = new ArrayList<>();
    private final List<String> faults = new CopyOnWriteArrayList<>();
    private final Exhibits exhibits = new Exhibits();
    private final JsonObject machine = Machine.toJson();
    private String versions = "";

    /**
     * What a measurement is to reach.
     *
     * @param least the lowest value wanted; 0 for none
     * @param most the highest value wanted; 0 for none
     * @param isRatio whether the value is the ratio to the baseline; else the median, in the measurement's unit
     */
    record Wanted(double least, double most, boolean isRatio) {
        static final Wanted NOTHING = new Wanted(0, 0, false);

        boolean isThere() {
            return least > 0 || most > 0;
        }

        boolean isWithin(double value) {
            return value >= least && (most == 0 || value <= most);
        }

        /** For the reader; empty for nothing. */
        String text() {
            String format = isRatio ? "%.2f" : "%,.0f";
            if (most > 0) {
                return "≤" + String.format(Locale.ROOT, format, most);
            }
            return least > 0 ? "≥" + String.format(Locale.ROOT, format, least) : "";
        }
    }

    /**
     * One line of the table.
     *
     * @param baseline what the measurement is divided by; null for none
     */
    record Line(Measurement measured, @Nullable Measurement baseline, Wanted wanted) {
        /** The ratio of the medians; NaN without a baseline. */
        double ratio() {
            return baseline == null ? Double.NaN : measured.median() / baseline.median();
        }

        /** Rounds that differ, but all keep to the bound, or all break it, agree on what matters. */
        boolean isNoisy() {
            if (hasTarget()
                    && !wanted.isRatio()
                    && measured.rounds().stream().allMatch(round -> wanted.isWithin(round) == isReached())) {
                return false;
            }
            return measured.isNoisy() || baseline != null && baseline.isNoisy();
        }

        boolean hasTarget() {
            return wanted.isThere();
        }

        boolean isReached() {
            return wanted.isWithin(wanted.isRatio() ? ratio() : measured.median());
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
        return add(new Measurement(what, unit), null, Wanted.NOTHING);
    }

    /** A measurement that is held against another one, and is to be {@code least} times that at least; 0 when it is only told. */
    Measurement measure(String what, String unit, Measurement baseline, double least) {
        return add(new Measurement(what, unit), baseline, new Wanted(least, 0, true));
    }

    /** A measurement that is to be {@code most} times another one at most. */
    Measurement atMost(String what, String unit, Measurement baseline, double most) {
        return add(new Measurement(what, unit), baseline, new Wanted(0, most, true));
    }

    /** A measurement whose median is to be no lower than {@code least}. */
    Measurement atLeast(String what, String unit, double least) {
        return add(new Measurement(what, unit), null, new Wanted(least, 0, false));
    }

    /** A measurement whose median is to be no higher than {@code most}. */
    Measurement atMost(String what, String unit, double most) {
        return add(new Measurement(what, unit), null, new Wanted(0, most, false));
    }

    /** A quantity that one look is enough for: it does not depend on how busy the machine is, or is only told. */
    Measurement once(String what, String unit) {
        return once(what, unit, 0);
    }

    /** The same, to be no higher than {@code most}. */
    Measurement once(String what, String unit, double most) {
        return add(new Measurement(what, unit, true), null, new Wanted(0, most, false));
    }

    private Measurement add(Measurement measurement, @Nullable Measurement baseline, Wanted wanted) {
        lines.add(new Line(measurement, baseline, wanted));
        return measurement;
    }

    /** Something that makes every number of this run worthless. Safe on any thread. */
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
                    line.wanted().text(),
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
            Wanted wanted = line.wanted();
            if (wanted.least() > 0) {
                row.put(wanted.isRatio() ? "target" : "atLeast", wanted.least());
            }
            if (wanted.most() > 0) {
                row.put(wanted.isRatio() ? "ratioAtMost" : "atMost", wanted.most());
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
