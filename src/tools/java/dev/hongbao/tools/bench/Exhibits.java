package dev.hongbao.tools.bench;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What a benchmark shows besides its measurements: tables of words and counts, and plots. Not thread-safe. */
final class Exhibits {
    private final List<Table> tables = new ArrayList<>();
    private final List<Plot> plots = new ArrayList<>();

    /** A table; each row has as many cells as there are columns, the first one is its name. */
    record Table(String title, List<String> columns, List<List<String>> rows) {
        void print(PrintWriter out) {
            out.printf("%n%s%n", title);
            int first = rows.stream().mapToInt(row -> row.get(0).length()).max().orElse(0);
            row(out, first, columns);
            rows.forEach(row -> row(out, first, row));
        }

        private void row(PrintWriter out, int first, List<String> cells) {
            StringBuilder line =
                    new StringBuilder(String.format(Locale.ROOT, "%-" + Math.max(1, first) + "s", cells.get(0)));
            for (int i = 1; i < cells.size(); i++) {
                int width = Math.max(8, columns.get(i).length());
                line.append(String.format(Locale.ROOT, "  %" + width + "s", cells.get(i)));
            }
            out.println(line);
        }

        JsonObject toJson() {
            JsonArray all = new JsonArray();
            rows.forEach(row -> all.add(new JsonArray(row)));
            return new JsonObject()
                    .put("title", title)
                    .put("columns", new JsonArray(columns))
                    .put("rows", all);
        }
    }

    /** The scale of an axis that is not linear. */
    enum Axis {
        LINEAR,
        LOG,
        /** 1 / (1 - percentile), logarithmic: as far from 90 % to 99 % as from there to 99.9 %. */
        PERCENTILE
    }

    /** A plot of lines; {@code x} and {@code y} name the axes with their units. */
    record Plot(String title, String x, Axis xAxis, String y, Axis yAxis, List<Line> lines) {
        JsonObject toJson() {
            JsonArray all = new JsonArray();
            lines.forEach(line -> all.add(line.toJson()));
            return new JsonObject()
                    .put("title", title)
                    .put("x", x)
                    .put("xAxis", axis(xAxis))
                    .put("y", y)
                    .put("yAxis", axis(yAxis))
                    .put("lines", all);
        }

        private static String axis(Axis axis) {
            return axis.name().toLowerCase(Locale.ROOT);
        }
    }

    /** Points in the order of x. */
    record Line(String name, List<Point> points) {
        JsonObject toJson() {
            JsonArray xs = new JsonArray();
            JsonArray ys = new JsonArray();
            for (Point point : points) {
                xs.add(rounded(point.x));
                ys.add(rounded(point.y));
            }
            return new JsonObject().put("name", name).put("x", xs).put("y", ys);
        }

        /** Six digits are more than any of it is worth. */
        private static double rounded(double value) {
            return value == 0
                    ? 0
                    : new BigDecimal(value).round(new MathContext(6)).doubleValue();
        }
    }

    /** One point of a line. */
    record Point(double x, double y) {}

    void add(Table table) {
        tables.add(table);
    }

    void add(Plot plot) {
        plots.add(plot);
    }

    void print(PrintWriter out) {
        tables.forEach(table -> table.print(out));
    }

    void putInto(JsonObject json) {
        JsonArray all = new JsonArray();
        tables.forEach(table -> all.add(table.toJson()));
        JsonArray drawn = new JsonArray();
        plots.forEach(plot -> drawn.add(plot.toJson()));
        json.put("tables", all).put("plots", drawn);
    }
}
