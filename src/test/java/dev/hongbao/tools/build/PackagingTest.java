package dev.hongbao.tools.build;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.ConfigLoader;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.Option;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.yaml.snakeyaml.Yaml;

/** The files in {@code docker} agree with the server: its options, its ports, its time to stop. */
class PackagingTest {
    /** As {@code StopOnSignal}: start and close together, {@code http.drain-delay} not counted. */
    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

    /** Beside the connections: files, stores, what is being closed. */
    private static final int OTHER_FILES = 500;

    private static final Pattern VARIABLE = Pattern.compile("(HONGBAO_[A-Z_]+)=(\\S+)");

    private final String image = read("docker/Dockerfile");
    private final Map<?, ?> compose = yaml("docker/compose.yaml");
    private final String unit = read("docker/systemd/hongbao.service");
    private final Map<?, ?> pod = map(yaml("docker/kubernetes/deployment.yaml"), "spec", "template", "spec");

    @Test
    void whatTheyConfigureAreOptionsWithGoodValues() {
        // Then
        assertThat(ofImage().web().http().address().host()).isEqualTo("0.0.0.0");
        assertThat(ofUnit().web().http().drainDelay()).isPositive();
        assertThat(ofPod().web().management().address().host()).isEqualTo("0.0.0.0");
        for (String server : List.of("hongbao-1", "hongbao-2")) {
            HongbaoConfig config = config(composed(server));
            String address = text(map(compose, "services", server, "networks", "default"), "ipv4_address");
            assertThat(read("docker/proxy/nginx.conf"))
                    .contains("server " + address + ":"
                            + config.web().http().address().port());
        }
    }

    @Test
    void theStoresPasswordsAreInFilesThatEachOfThemMounts() {
        // Given what each of them sets, and where it has its files
        List<String> options = List.of("HONGBAO_REDIS_URL_FILE", "HONGBAO_POSTGRES_URL_FILE");
        Map<String, String> ofUnit = variables(unit.replace("%d", "/run/credentials"));
        Map<String, String> ofPod = new HashMap<>();
        list(container().get("env"))
                .forEach(entry -> ofPod.put(String.valueOf(entry.get("name")), String.valueOf(entry.get("value"))));

        // Then
        for (String option : options) {
            String secret = option.equals("HONGBAO_REDIS_URL_FILE") ? "redis-url" : "postgres-url";
            assertThat(ofUnit).containsEntry(option, "/run/credentials/" + secret);
            assertThat(unit).contains("LoadCredential=" + secret + ":");
            assertThat(ofPod).containsEntry(option, "/etc/hongbao/secrets/" + secret);
            assertThat(read("docker/kubernetes/kustomization.yaml")).contains("--from-file=" + secret);
            for (String server : List.of("hongbao-1", "hongbao-2")) {
                assertThat(composed(server)).containsEntry(option, "/run/secrets/" + secret);
                List<?> mounted = (List<?>) map(compose, "services", server).get("secrets");
                assertThat(mounted.contains(secret)).as(secret).isTrue();
            }
            assertThat(map(compose, "secrets", secret).get("file")).isEqualTo("secrets/" + secret);
            assertThat(read("docker/make-secrets.sh")).contains("\"$made/" + secret + "\"");
        }
    }

    @Test
    void theirPortsAreTheServers() {
        // Given
        HongbaoConfig config = ofImage();
        int http = config.web().http().address().port();
        int management = config.web().management().address().port();

        // Then
        assertThat(image).contains("EXPOSE " + http + " " + management + "\n");
        assertThat(image).contains("/dev/tcp/127.0.0.1/" + management + ";").contains("GET /health/ready ");
        assertThat(config.web().management().address().host()).isEqualTo("0.0.0.0");
        Map<String, Object> ports = new HashMap<>();
        list(container().get("ports"))
                .forEach(port -> ports.put(String.valueOf(port.get("name")), port.get("containerPort")));
        assertThat(ports).isEqualTo(Map.of("http", http, "management", management));
        for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
            assertThat(map(container(), probe, "httpGet").get("port")).isEqualTo("management");
        }
    }

    @Test
    void whoStopsAServerLeavesItTimeForThat() {
        // Then
        assertThat(Option.parseDuration(only(image, "HTTP_DRAIN_DELAY=(\\S+)"))).isPositive();
        Duration ofImage = stopTime(ofImage());
        for (String server : List.of("hongbao-1", "hongbao-2")) {
            assertThat(Option.parseDuration(
                            String.valueOf(map(compose, "services", server).get("stop_grace_period"))))
                    .isGreaterThan(ofImage);
        }
        assertThat(Duration.ofSeconds((int) integer(pod.get("terminationGracePeriodSeconds"))))
                .isGreaterThan(ofImage);
        assertThat(Option.parseDuration(only(unit, "TimeoutStopSec=(\\S+)"))).isGreaterThan(stopTime(ofUnit()));

        // Then a load balancer that asks has noticed before the listener closes
        Map<?, ?> probe = map(container(), "readinessProbe");
        long notices = (long) integer(probe.get("periodSeconds")) * integer(probe.get("failureThreshold"));
        assertThat(Duration.ofSeconds(notices)).isLessThan(ofImage.minus(STOP_LIMIT));
    }

    @Test
    void aServerMayOpenAsManyFilesAsItTakesConnections() {
        // Given
        int needed = ofImage().web().http().maxConnections() + OTHER_FILES;

        // Then
        assertThat(Integer.parseInt(only(unit, "LimitNOFILE=(\\d+)"))).isGreaterThanOrEqualTo(needed);
        for (String server : List.of("hongbao-1", "hongbao-2")) {
            assertThat(integer(map(compose, "services", server, "ulimits").get("nofile")))
                    .isGreaterThanOrEqualTo(needed);
        }
    }

    @Test
    void kubernetesScalesByAMetricThatTheAlertsUse() {
        // Given
        String metric = only(read("docker/kubernetes/queue-fill/kustomization.yaml"), "metric:\\s+name: (\\S+)");

        // Then
        assertThat(read("docker/prometheus/alerts.yml")).contains("(" + metric);
    }

    /** Kustomize adds its label to the pods, and to the selectors of the deployment and of the services; the others have to name it. */
    @Test
    void whateverChoosesPodsInKubernetesChoosesTheServers() {
        // Given
        Map<?, ?> labels = list(kubernetes("kustomization.yaml").get("labels")).get(0);
        Map<?, ?> servers = map(labels, "pairs");
        Map<?, ?> scaling = objects("scaling.yaml");
        Map<?, ?> network = map(objects("network.yaml"), "NetworkPolicy hongbao", "spec");
        Map<?, ?> spread = list(pod.get("topologySpreadConstraints")).get(0);

        // Then
        assertThat(String.valueOf(labels.get("includeSelectors"))).isEqualTo("true");
        assertThat(String.valueOf(servers)).isEqualTo("{app.kubernetes.io/name=hongbao}");
        assertThat(matched(map(scaling, "PodDisruptionBudget hongbao", "spec", "selector")))
                .isEqualTo(servers.toString());
        assertThat(matched(map(network, "podSelector"))).isEqualTo(servers.toString());
        assertThat(matched(map(spread, "labelSelector"))).isEqualTo(servers.toString());
    }

    @Test
    void whatScalesServersInKubernetesScalesTheDeployment() {
        // Given
        Map<?, ?> deployment = kubernetes("deployment.yaml");
        Map<?, ?> scaler = map(objects("scaling.yaml"), "HorizontalPodAutoscaler hongbao", "spec");
        Map<?, ?> target = map(scaler, "scaleTargetRef");
        Map<?, ?> patch =
                list(kubernetes("queue-fill/kustomization.yaml").get("patches")).get(0);

        // Then
        for (String name : List.of("apiVersion", "kind")) {
            assertThat(text(target, name)).isEqualTo(text(deployment, name));
        }
        assertThat(text(target, "name")).isEqualTo(text(map(deployment, "metadata"), "name"));
        assertThat(map(deployment, "spec").containsKey("replicas"))
                .as("or each apply undoes the scaling")
                .isFalse();
        assertThat(integer(scaler.get("minReplicas"))).isGreaterThan(1);
        assertThat(integer(scaler.get("maxReplicas"))).isGreaterThan(integer(scaler.get("minReplicas")));
        // A share of the CPU is one of what is requested.
        assertThat(map(container(), "resources", "requests").containsKey("cpu")).isTrue();
        assertThat(text(map(patch, "target"), "kind")).isEqualTo("HorizontalPodAutoscaler");
        assertThat(text(map(patch, "target"), "name")).isEqualTo("hongbao");
    }

    @Test
    void theServicesAndTheNetworkPolicyNameThePodsPorts() {
        // Given
        Map<String, String> ports = new HashMap<>();
        list(container().get("ports")).forEach(port -> ports.put(text(port, "name"), text(port, "containerPort")));
        Map<?, ?> services = objects("services.yaml");
        List<Map<?, ?>> ofApi = list(map(services, "Service hongbao", "spec").get("ports"));
        List<Map<?, ?>> rules = list(
                map(objects("network.yaml"), "NetworkPolicy hongbao", "spec").get("ingress"));

        // Then
        assertThat(ofApi.stream().map(port -> text(port, "targetPort"))).containsExactly("http");
        // Each port is opened once; only the API's port is open to all.
        assertThat(rules.stream()
                        .flatMap(rule -> list(rule.get("ports")).stream())
                        .map(port -> text(port, "port")))
                .containsExactlyInAnyOrderElementsOf(ports.keySet());
        for (Map<?, ?> rule : rules) {
            boolean isApi = text(list(rule.get("ports")).get(0), "port").equals("http");
            assertThat(rule.containsKey("from")).as(rule.toString()).isNotEqualTo(isApi);
        }
    }

    @Test
    void aServerMayDoLittle() {
        // Then
        for (String server : List.of("hongbao-1", "hongbao-2")) {
            Map<?, ?> service = map(compose, "services", server);
            assertThat(text(service, "read_only")).isEqualTo("true");
            assertThat(text(service, "cap_drop")).isEqualTo("[ALL]");
            assertThat(text(service, "security_opt")).isEqualTo("[no-new-privileges:true]");
        }
        assertThat(text(map(pod, "securityContext"), "runAsNonRoot")).isEqualTo("true");
        assertThat(text(map(pod, "securityContext"), "runAsUser")).isEqualTo(only(image, "\nUSER (\\d+)"));
        Map<?, ?> rights = map(container(), "securityContext");
        assertThat(text(rights, "readOnlyRootFilesystem")).isEqualTo("true");
        assertThat(text(rights, "allowPrivilegeEscalation")).isEqualTo("false");
        assertThat(text(map(rights, "capabilities"), "drop")).isEqualTo("[ALL]");
        assertThat(unit).contains("\nDynamicUser=yes\n", "\nProtectSystem=strict\n", "\nCapabilityBoundingSet=\n");
    }

    @Test
    void whoHasNoMemoryLeftEnds() {
        // Then
        assertThat(only(image, "ENTRYPOINT \\[\"(.*)\"]")).contains("\"-XX:+ExitOnOutOfMemoryError\"");
        assertThat(only(unit, "ExecStart=(.*)")).contains(" -XX:+ExitOnOutOfMemoryError ");
        assertThat(unit).contains("\nRestart=on-failure\n");
    }

    /** The build stage copies all that the engine is sent: it is sent what is named, and nothing else. */
    @Test
    void theImageIsBuiltFromSourcesOnly() {
        // Given
        List<String> rules = read("docker/Dockerfile.dockerignore")
                .lines()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .toList();

        // Then all is out, but what is named after it: neither docker/secrets nor data, conf, target or .git
        assertThat(image).contains("\nCOPY . .\n");
        assertThat(rules.get(0)).isEqualTo("*");
        assertThat(rules.stream().filter(rule -> rule.startsWith("!")))
                .containsExactlyInAnyOrder("!.mvn", "!LICENSE", "!README.md", "!mvnw", "!pom.xml", "!src");
        assertThat(read(".gitignore")).contains("/docker/secrets/\n", "/data/\n");
    }

    @Test
    void theImageWithoutAnEngineIsStartedAsTheOther() throws Exception {
        // Given what the build tells Jib
        Element container = (Element) DocumentBuilderFactory.newDefaultInstance()
                .newDocumentBuilder()
                .parse(Path.of("pom.xml").toFile())
                .getElementsByTagName("container")
                .item(0);
        List<String> command = List.of(only(image, "ENTRYPOINT \\[\"(.*)\"]").split("\", \"", -1)).stream()
                .filter(word -> !word.startsWith("-XX:AOTCache="))
                .toList();

        // Then
        Map<String, String> environment = new HashMap<>();
        for (Element variable : elements(container, "environment")) {
            environment.put(variable.getTagName(), variable.getTextContent());
        }
        assertThat(environment).isEqualTo(variables(image));
        assertThat(List.of(text(container, "entrypoint").split(",", -1))).isEqualTo(command);
        assertThat(elements(container, "ports").stream().map(Element::getTextContent))
                .containsExactly(only(image, "EXPOSE (.*)").split(" ", -1));
        // Without the name of a user, which its base has not, the group would be root's.
        String user = only(image, "\nUSER (\\d+)");
        assertThat(text(container, "user")).isEqualTo(user + ":" + user);
        assertThat(text(container, "workingDirectory")).isEqualTo(only(image, "WORKDIR (/var.*)"));
        assertThat(text(container, "volume")).isEqualTo(only(image, "VOLUME (.*)"));
    }

    private static List<Element> elements(Element of, String name) {
        NodeList children = of.getElementsByTagName(name).item(0).getChildNodes();
        return IntStream.range(0, children.getLength())
                .mapToObj(children::item)
                .filter(Element.class::isInstance)
                .map(Element.class::cast)
                .toList();
    }

    private static String text(Element of, String name) {
        return of.getElementsByTagName(name).item(0).getTextContent();
    }

    @Test
    void noPasswordIsOnACommandLineOrInAnEnvironment() {
        // Then
        for (String file : List.of("docker/compose.yaml", "docker/Dockerfile", "docker/systemd/hongbao.service")) {
            assertThat(read(file))
                    .as(file)
                    .doesNotContain("--requirepass", "${")
                    .doesNotContainPattern("(?m)^(?!.*REDISCLI_AUTH=\\$\\$\\(cut ).*(PASSWORD|AUTH)[:=]")
                    .doesNotContainPattern("://[^/\\s]*:[^/\\s]*@");
        }
    }

    private static Duration stopTime(HongbaoConfig config) {
        return config.web().http().drainDelay().plus(STOP_LIMIT);
    }

    private HongbaoConfig ofImage() {
        return config(variables(image));
    }

    private HongbaoConfig ofUnit() {
        return config(variables(unit.replace("%S", "/var/lib")));
    }

    private HongbaoConfig ofPod() {
        Map<String, String> environment = variables(image);
        list(container().get("env"))
                .forEach(entry -> environment.put(
                        String.valueOf(entry.get("name")),
                        entry.containsKey("value") ? String.valueOf(entry.get("value")) : "10.0.0.1"));
        return config(environment);
    }

    private Map<String, String> composed(String server) {
        Map<String, String> environment = variables(image);
        map(compose, "services", server, "environment")
                .forEach((name, value) -> environment.put(String.valueOf(name), String.valueOf(value)));
        return environment;
    }

    /** Fails when a name is no option, or a value is not one of its option. The files that it names are on another machine. */
    private static HongbaoConfig config(Map<String, String> environment) {
        Map<String, String> here = new HashMap<>(environment);
        assertThat(here).isNotEmpty();
        here.remove(ConfigLoader.Sources.FILE_VARIABLE);
        Map<String, String> urls = Map.of(
                "HONGBAO_REDIS_URL_FILE",
                "redis://:p@redis",
                "HONGBAO_POSTGRES_URL_FILE",
                "postgresql://u:p@postgres/d");
        here.replaceAll((name, value) -> name.endsWith("_FILE") ? holding(urls.getOrDefault(name, "")) : value);
        return ConfigLoader.load(new ConfigLoader.Sources(Map.of(), here, null, null))
                .config();
    }

    private static String holding(String text) {
        try {
            Path file = Files.createTempFile(Path.of("target"), "packaging", "");
            file.toFile().deleteOnExit();
            return Files.writeString(file, text).toString();
        } catch (IOException unwritable) {
            throw new IllegalStateException(unwritable);
        }
    }

    private static Map<String, String> variables(String text) {
        Map<String, String> found = new HashMap<>();
        Consumer<MatchResult> put = match -> found.put(match.group(1), match.group(2));
        VARIABLE.matcher(text).results().forEach(put);
        return found;
    }

    private Map<?, ?> container() {
        return list(pod.get("containers")).get(0);
    }

    private static Map<?, ?> map(Map<?, ?> from, String... path) {
        Map<?, ?> found = from;
        for (String name : path) {
            assertThat(found.get(name)).as(name).isInstanceOf(Map.class);
            found = (Map<?, ?>) found.get(name);
        }
        return found;
    }

    private static List<Map<?, ?>> list(Object maps) {
        return ((List<?>) maps)
                .stream().<Map<?, ?>>map(each -> (Map<?, ?>) each).toList();
    }

    private static String text(Map<?, ?> from, String name) {
        assertThat(from.containsKey(name)).as(name).isTrue();
        return String.valueOf(from.get(name));
    }

    /** The labels that a selector wants, as text. */
    private static String matched(Map<?, ?> selector) {
        assertThat(selector.keySet().toString()).isEqualTo("[matchLabels]");
        return text(selector, "matchLabels");
    }

    private static Map<?, ?> kubernetes(String file) {
        return yaml("docker/kubernetes/" + file);
    }

    /** Those of a file with several, by kind and name. */
    private static Map<String, Map<?, ?>> objects(String file) {
        Map<String, Map<?, ?>> found = new HashMap<>();
        for (Object each : new Yaml().loadAll(read("docker/kubernetes/" + file))) {
            Map<?, ?> object = (Map<?, ?>) each;
            found.put(text(object, "kind") + " " + text(map(object, "metadata"), "name"), object);
        }
        return found;
    }

    private static int integer(Object number) {
        return (Integer) number;
    }

    private static String only(String text, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertThat(matcher.find()).as(pattern).isTrue();
        return matcher.group(1);
    }

    private static Map<?, ?> yaml(String file) {
        return new Yaml().load(read(file));
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }
}
