package dev.hongbao.testing;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What {@code /metrics} says: Prometheus' text format, version 0.0.4, read strictly. */
public record Exposition(Map<String, Family> families, Map<String, Double> series) {
    private static final Pattern SAMPLE = Pattern.compile(
            "([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{(?:[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\\\\n]|\\\\[\\\\\"n])*\",?)*})? (\\S+)");
    private static final Pattern LABEL = Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"");

    /**
     * A metric.
     *
     * @param type as its TYPE says
     * @param labels the names that its series have
     */
    public record Family(String type, Set<String> labels) {}

    /** Asks a server at its management address. */
    public static Exposition of(URI management) {
        try {
            return parse(text(management));
        } catch (IOException fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** As Prometheus keeps it: with {@code up}, which is all that there is of a server that does not answer. */
    public static Exposition kept(URI management) {
        String up = "# TYPE up gauge\nup{job=\"hongbao\"} ";
        try {
            return parse(text(management) + up + 1);
        } catch (IOException away) {
            return parse(up + 0);
        }
    }

    private static String text(URI management) throws IOException {
        try {
            return HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(management.resolve("/metrics")).build(), BodyHandlers.ofString())
                    .body();
        } catch (InterruptedException fault) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(fault);
        }
    }

    /** @throws AssertionError naming the line that is not of the format */
    public static Exposition parse(String text) {
        Map<String, Family> families = new HashMap<>();
        Map<String, Double> series = new HashMap<>();
        for (String line : text.split("\n")) {
            String[] words = line.split(" ", 4);
            if (line.startsWith("# TYPE ")) {
                require(families.put(words[2], new Family(words[3], new TreeSet<>())) == null, "TYPE twice: " + line);
            } else if (!line.startsWith("# HELP ")) {
                Matcher sample = SAMPLE.matcher(line);
                require(sample.matches(), "no sample: " + line);
                Family family = family(families, sample.group(1));
                require(family != null, "no TYPE before " + line);
                String labels = sample.group(2) == null ? "" : sample.group(2);
                LABEL.matcher(labels).results().forEach(label -> family.labels.add(label.group(1)));
                double value = Double.parseDouble(sample.group(3).replace("Inf", "Infinity"));
                require(series.put(sample.group(1) + labels, value) == null, "a series twice: " + line);
            }
        }
        return new Exposition(families, series);
    }

    private static Family family(Map<String, Family> families, String sample) {
        Family own = families.get(sample);
        for (String suffix : List.of("_bucket", "_count", "_sum")) {
            if (own == null && sample.endsWith(suffix)) {
                own = families.get(sample.substring(0, sample.length() - suffix.length()));
            }
        }
        return own;
    }

    private static void require(boolean holds, String fault) {
        if (!holds) {
            throw new AssertionError(fault);
        }
    }

    /** The names under which series are found. */
    public Set<String> names() {
        Set<String> names = new HashSet<>();
        series.keySet().forEach(each -> names.add(each.replaceFirst("\\{.*", "")));
        return names;
    }

    /** The sum over all series of that name whose labels contain {@code labels}; NaN for none. */
    public double sum(String name, String... labels) {
        double[] values = series.entrySet().stream()
                .filter(each -> each.getKey().equals(name) || each.getKey().startsWith(name + "{"))
                .filter(each -> List.of(labels).stream().allMatch(each.getKey()::contains))
                .mapToDouble(Map.Entry::getValue)
                .toArray();
        double sum = 0;
        for (double value : values) {
            sum += value;
        }
        return values.length == 0 ? Double.NaN : sum;
    }
}
