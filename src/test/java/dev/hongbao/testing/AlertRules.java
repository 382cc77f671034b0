package dev.hongbao.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.Yaml;

/** The alert rules of {@code docker/prometheus}, and as much of Prometheus as it takes to say whether one holds at this moment. */
public final class AlertRules {
    private static final Pattern SIMPLE = Pattern.compile(
            "(?:(max|sum)(?: by \\((\\w+)\\) )?\\()?([a-z_]+)(?:\\{(\\w+)=\"([^\"]*)\"})?\\)? (>|==) ([0-9.]+)");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");

    private final Map<String, Map<?, ?>> rules = new LinkedHashMap<>();

    public AlertRules() {
        try {
            Map<?, ?> file = new Yaml().load(Files.readString(Path.of("docker/prometheus/alerts.yml")));
            for (Object group : (List<?>) file.get("groups")) {
                for (Object rule : (List<?>) ((Map<?, ?>) group).get("rules")) {
                    Map<?, ?> alert = (Map<?, ?>) rule;
                    if (rules.put(String.valueOf(alert.get("alert")), alert) != null) {
                        throw new IllegalStateException("twice: " + alert);
                    }
                }
            }
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** By name. */
    public Map<String, Map<?, ?>> all() {
        return rules;
    }

    /** Whether the expression of a rule holds now, however long it has to. Of rules that look at this moment alone. */
    public boolean holds(String alert, Exposition metrics) {
        Matcher rule = SIMPLE.matcher(String.valueOf(rules.get(alert).get("expr")));
        if (!rule.matches()) {
            throw new IllegalArgumentException("not a rule of this moment: " + alert);
        }
        Map<String, Double> values = new HashMap<>();
        metrics.series().forEach((series, value) -> {
            Map<String, String> labels = new HashMap<>();
            LABEL.matcher(series).results().forEach(label -> labels.put(label.group(1), label.group(2)));
            boolean chosen = rule.group(4) == null
                    || labels.getOrDefault(rule.group(4), "").matches(rule.group(5));
            if (series.replaceFirst("\\{.*", "").equals(rule.group(3)) && chosen) {
                String of = rule.group(1) == null ? series : labels.getOrDefault(String.valueOf(rule.group(2)), "");
                values.merge(of, value, "sum".equals(rule.group(1)) ? Double::sum : Math::max);
            }
        });
        if (values.isEmpty()) {
            throw new IllegalStateException("no series for " + alert);
        }
        double limit = Double.parseDouble(rule.group(7));
        return values.values().stream().anyMatch(value -> rule.group(6).equals(">") ? value > limit : value == limit);
    }
}
