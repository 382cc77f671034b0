package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.Exhibits.Axis;
import dev.hongbao.tools.bench.Exhibits.Line;
import dev.hongbao.tools.bench.Exhibits.Plot;
import dev.hongbao.tools.bench.Exhibits.Point;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/** Plots of how long things took, by percentile. */
final class Percentiles {
    private static final int PER_HALF = 5;

    /** Beyond it a line would stand on single requests. */
    private static final double MOST = 100_000;

    private Percentiles() {}

    static Plot plot(String title, List<Line> lines) {
        return new Plot(title, "percentile", Axis.PERCENTILE, "milliseconds", Axis.LOG, lines);
    }

    /** @param micros what took so long; empty gives no points */
    static Line line(String name, Histogram micros) {
        List<Point> points = new ArrayList<>();
        if (micros.getTotalCount() > 0) {
            for (HistogramIterationValue value : micros.percentiles(PER_HALF)) {
                double left = 1 - value.getPercentileLevelIteratedTo() / 100;
                if (left * MOST >= 1) {
                    points.add(new Point(1 / left, value.getValueIteratedTo() / 1_000.0));
                }
            }
        }
        return new Line(name, points);
    }
}
