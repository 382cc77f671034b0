package dev.hongbao.tools.bench;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** A server's {@code /metrics} at one moment. Each name has its sum over all tags; each series has its own value. Immutable. */
record Metrics(Map<String, Double> sums) {
    static Metrics of(int managementPort) throws IOException {
        Map<String, Double> sums = new HashMap<>();
        try (InputStream in = URI.create("http://127.0.0.1:" + managementPort + "/metrics")
                .toURL()
                .openStream()) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            text.lines().filter(line -> !line.startsWith("#")).forEach(line -> {
                String series = line.substring(0, Math.max(line.lastIndexOf('}') + 1, line.indexOf(' ')));
                double value = Double.parseDouble(
                        line.substring(series.length()).strip().split(" ", -1)[0]);
                sums.merge(series, value, Double::sum);
                if (series.endsWith("}")) {
                    sums.merge(series.substring(0, series.indexOf('{')), value, Double::sum);
                }
            });
        }
        return new Metrics(sums);
    }

    /** 0 if there is none. */
    double sum(String name) {
        return sums.getOrDefault(name, 0.0);
    }
}
