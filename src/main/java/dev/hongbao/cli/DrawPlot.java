package dev.hongbao.cli;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.draw.odds.Simulation;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** The plot of a simulation: per prize, the wins up to each moment in percent of all its wins. */
final class DrawPlot {
    private static final int WIDTH = 1000;
    private static final int HEIGHT = 600;

    /** More curves than this are indistinguishable. */
    private static final int MAX_CURVES = 12;

    private DrawPlot() {}

    static void save(DrawDefinition definition, Simulation.Outcome outcome, Path png) throws IOException {
        System.setProperty("java.awt.headless", "true");
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(definition.name() + ": prizes over time")
                .xAxisTitle("percent of the time from opening to close")
                .yAxisTitle("percent of the prize's wins")
                .build();
        chart.getStyler().setLegendPosition(Styler.LegendPosition.InsideNW);
        double[] time = new double[Simulation.STEPS];
        for (int step = 0; step < time.length; step++) {
            time[step] = 100.0 * (step + 1) / time.length;
        }
        List<Prize> prizes = definition.allPrizes();
        for (int i = 0; i < Math.min(MAX_CURVES, prizes.size()); i++) {
            double[] won = new double[time.length];
            for (int step = 0; step < time.length; step++) {
                won[step] = 100.0 * outcome.overTime()[step][i] / Math.max(1, outcome.seen()[i]);
            }
            chart.addSeries((i + 1) + " " + prizes.get(i).name(), time, won).setMarker(SeriesMarkers.NONE);
        }
        try (OutputStream out = Files.newOutputStream(png)) {
            BitmapEncoder.saveBitmap(chart, out, BitmapEncoder.BitmapFormat.PNG);
        }
    }
}
