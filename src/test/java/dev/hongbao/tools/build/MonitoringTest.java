package dev.hongbao.tools.build;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.AlertRules;
import dev.hongbao.testing.InstalledProgram;
import io.vertx.core.json.JsonObject;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** Prometheus' and Grafana's files in {@code docker}: each alert leads somewhere, and what is mounted is there. */
class MonitoringTest {
    private static final String RUNBOOK = "http://127.0.0.1:8080/docs/guide/runbook.html#";

    private final AlertRules rules = new AlertRules();

    @Test
    void eachAlertSaysWhatItIsAndLeadsToItsSectionOfTheRunbook() throws Exception {
        Set<String> sections = new HashSet<>(
                GuidePages.anchors(GuidePages.parse(Files.readString(Path.of("src/site/markdown/runbook.md"))))
                        .values());

        assertThat(rules.all()).isNotEmpty();
        rules.all().forEach((name, rule) -> {
            Map<?, ?> told = (Map<?, ?>) rule.get("annotations");
            assertThat(String.valueOf(told.get("summary"))).as(name).isNotBlank();
            assertThat(String.valueOf(told.get("description"))).as(name).isNotBlank();
            assertThat(String.valueOf(told.get("runbook_url"))).as(name).startsWith(RUNBOOK);
            assertThat(sections)
                    .as(name)
                    .contains(told.get("runbook_url").toString().substring(RUNBOOK.length()));
            assertThat(((Map<?, ?>) rule.get("labels")).get("severity"))
                    .as(name)
                    .isIn("page", "ticket");
        });
    }

    @Test
    void whatComposeMountsIsThereAndPrometheusScrapesBothServers() throws Exception {
        Map<?, ?> compose = yaml("docker/compose.yaml");
        Map<?, ?> services = (Map<?, ?>) compose.get("services");
        for (String service : List.of("prometheus", "grafana")) {
            for (Object volume : (List<?>) ((Map<?, ?>) services.get(service)).get("volumes")) {
                String from = volume.toString().split(":")[0];
                assertThat(
                                from.startsWith("./")
                                        ? Files.isDirectory(Path.of("docker", from))
                                        : ((Map<?, ?>) compose.get("volumes")).containsKey(from))
                        .as(volume.toString())
                        .isTrue();
            }
        }
        assertThat(Files.readString(Path.of("docker/prometheus/prometheus.yml")))
                .contains("- alerts.yml", "hongbao-1:9090", "hongbao-2:9090");
        assertThat(services.keySet().stream().map(String::valueOf)).contains("hongbao-1", "hongbao-2");
    }

    @Test
    void theDashboardReadsAnySourceOfTheKindThatIsProvisioned() throws Exception {
        Map<?, ?> source = (Map<?, ?>) ((List<?>) yaml("docker/grafana/provisioning/datasources/prometheus.yaml")
                        .get("datasources"))
                .get(0);
        JsonObject dashboard = new JsonObject(Files.readString(Path.of("docker/grafana/dashboards/hongbao.json")));

        // One that is wired in cannot be imported elsewhere; the variable takes the only one there is when it is
        // provisioned.
        JsonObject variable =
                dashboard.getJsonObject("templating").getJsonArray("list").getJsonObject(0);
        assertThat(variable.getString("type")).isEqualTo("datasource");
        assertThat(variable.getString("query")).isEqualTo(source.get("type"));
        assertThat(dashboard.getJsonArray("panels"))
                .isNotEmpty()
                .allSatisfy(panel -> assertThat(
                                ((JsonObject) panel).getJsonObject("datasource").getString("uid"))
                        .isEqualTo("${" + variable.getString("name") + "}"));
    }

    @Test
    void eachAlertHasATestThatSeesItFire() throws Exception {
        List<Object> tests = new ArrayList<>();
        for (String file : List.of("alerts_test.yml", "alerts_slow_test.yml")) {
            tests.addAll((List<?>) yaml("docker/prometheus/" + file).get("tests"));
        }
        Set<Object> fired = tests.stream()
                .flatMap(test -> ((List<?>) ((Map<?, ?>) test).get("alert_rule_test")).stream())
                .map(Map.class::cast)
                .filter(expected -> !((List<?>) expected.get("exp_alerts")).isEmpty())
                .map(expected -> expected.get("alertname"))
                .collect(Collectors.toSet());

        assertThat(fired).containsAll(rules.all().keySet());
    }

    @Test
    void eachAlertIsDrilledOnAServerUntilItFiresAndUntilItClears() throws Exception {
        String drills = "";
        try (Stream<Path> files = Files.list(Path.of("src/test/java/dev/hongbao/server"))) {
            for (Path drill : files.filter(file -> file.getFileName().toString().matches("Runbook.*DrillIT\\.java"))
                    .toList()) {
                drills += Files.readString(drill);
            }
        }

        for (String alert : rules.all().keySet()) {
            assertThat(drills).contains("fires(\"" + alert + "\"", "clears(\"" + alert + "\"");
        }
    }

    /** Its own unit tests, where it is installed. */
    @Test
    void promtoolFindsNoFault() throws Exception {
        String tool = InstalledProgram.assume("promtool", "prometheus").toString();
        assertThat(run(tool, "check", "config", "prometheus.yml")).isZero();
        assertThat(run(tool, "test", "rules", "alerts_test.yml", "alerts_slow_test.yml"))
                .isZero();
    }

    private static int run(String... command) throws Exception {
        return new ProcessBuilder(command)
                .directory(new File("docker/prometheus"))
                .inheritIO()
                .start()
                .waitFor();
    }

    private static Map<?, ?> yaml(String file) throws IOException {
        return new Yaml().load(Files.readString(Path.of(file)));
    }
}
