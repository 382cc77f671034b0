package dev.hongbao.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.yaml.snakeyaml.Yaml;

/** The alert rules of {@code docker/prometheus}, and whether one holds for a server. */
public final class AlertRules {
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

    /**
     * Whether the rule of an alert holds, however long it has to.
     *
     * @param before where a rule begins that looks back
     */
    public boolean holds(String alert, Exposition before, Exposition now) {
        return !RuleExpression.of(String.valueOf(rules.get(alert).get("expr")), before, now)
                .isEmpty();
    }
}
