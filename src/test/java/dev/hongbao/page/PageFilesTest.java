package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract;
import dev.hongbao.http.PageFiles;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PageFilesTest {
    private static final Path WEBROOT = Path.of("src/main/resources/webroot");

    /** What the console uses of the chat page. */
    private static final Set<String> OF_BOTH = Set.of(
            "/",
            "/icon.svg",
            "/style/base.css",
            "/app/ui.js",
            "/app/time.js",
            "/app/api.js",
            "/app/prefs.js",
            "/app/wording.js");

    private static final Pattern IMPORT = Pattern.compile("from '([^']+)'");

    private static List<String> paths() throws IOException {
        try (Stream<Path> files = Files.walk(WEBROOT)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> "/" + WEBROOT.relativize(file))
                    .toList();
        }
    }

    @Test
    void everyFileOfTheWebrootIsServedWhereItBelongs() throws IOException {
        assertThat(paths()).hasSizeGreaterThan(30);
        for (String path : paths()) {
            String asked = path.equals("/console/index.html") || path.equals("/index.html")
                    ? "/"
                    : path.replace("/index.html", "");
            boolean operators = path.startsWith("/console/");
            boolean shared = path.startsWith("/vendor/") || OF_BOTH.contains(asked);
            assertThat(PageFiles.chat(List.of()).find(asked) != null).as(path).isEqualTo(shared || !operators);
            assertThat(PageFiles.console(null).find(asked) != null).as(path).isEqualTo(shared || operators);
        }
        assertThat(text(PageFiles.chat(List.of()), "/")).contains("\"app/main.js\"");
        assertThat(text(PageFiles.console(null), "/")).contains("\"console/main.js\"");
    }

    /** So that they hold below the path of a proxy. */
    @Test
    void noFileLeadsToThePathOfAServerAtTheRoot() throws IOException {
        Pattern absolute = Pattern.compile(
                "(?:href|src|action)=[\"'`]/|url: '/|url\\([\"']?/|fetch[A-Za-z]*\\([\"'`]/|location\\.origin");
        for (String path : paths()) {
            if (path.matches(".*\\.(html|js|css)") && !path.startsWith("/vendor/")) {
                assertThat(Files.readString(WEBROOT.resolve(path.substring(1)))
                                .lines()
                                .filter(line -> !line.startsWith(" *")))
                        .as(path)
                        .noneMatch(absolute.asPredicate());
            }
        }
    }

    @Test
    void theClientIsAPackageWhoseTypesNameAllThatItExports() throws IOException {
        JsonObject about = new JsonObject(text(PageFiles.chat(List.of()), "/package.json"));

        assertThat(about.getString("type")).isEqualTo("module");
        for (String module : List.of("hongbao-client", "hongbao-verify")) {
            assertThat(about.getJsonArray("files")).contains(module + ".js", module + ".d.ts");
            assertThat(exports(module + ".d.ts")).as(module).isNotEmpty().isEqualTo(exports(module + ".js"));
        }
        assertThat(methods("hongbao-client.d.ts")).contains("claim").isEqualTo(methods("hongbao-client.js"));
    }

    @Test
    void theClientsTypesHaveTheFieldsOfTheContract() {
        // Given its interfaces of the contract's schemas, each without the fields that only the host's backend uses
        // over HTTP
        Map<String, Set<String>> types = Map.of(
                "Send", Set.of("reference", "reason"),
                "Packet", Set.of("file"),
                "Claim", Set.of(),
                "ClaimOutcome", Set.of(),
                "Play", Set.of(),
                "PlayOutcome", Set.of(),
                "Win", Set.of(),
                "Rain", Set.of(),
                "Problem", Set.of());
        JsonObject schemas = Contract.document().getJsonObject("components").getJsonObject("schemas");
        String client = text(PageFiles.chat(List.of()), "/hongbao-client.d.ts");

        types.forEach((type, left) -> {
            // When
            int start = client.indexOf("export interface " + type + " {");
            Set<String> fields = named("(?m)^  (\\w+)\\??:", client.substring(start, client.indexOf("\n}\n", start)));

            // Then
            Set<String> expected = new TreeSet<>(schemas.getJsonObject(type.equals("Rain") ? "RainAnnouncedData" : type)
                    .getJsonObject("properties")
                    .fieldNames());
            expected.removeAll(left);
            assertThat(fields)
                    .as("fields of %s in hongbao-client.d.ts, as in openapi.yaml", type)
                    .isEqualTo(expected);
        });
    }

    /** Functions, classes and what is handed on; types alone are not there when it runs. */
    private static Set<String> exports(String file) {
        return named(
                "(?m)^export (?:(?:async )?(?:function|class) |\\{ )(\\w+)",
                text(PageFiles.chat(List.of()), "/" + file));
    }

    /** The public ones of the client. */
    private static Set<String> methods(String file) {
        String text = text(PageFiles.chat(List.of()), "/" + file);
        int start = text.indexOf("class HongbaoClient {");
        return named(
                "(?m)^  (?:async )?(?!constructor)([a-z]\\w*)\\(", text.substring(start, text.indexOf("\n}\n", start)));
    }

    private static Set<String> named(String pattern, String text) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        Set<String> names = new TreeSet<>();
        while (matcher.find()) {
            names.add(matcher.group(1));
        }
        return names;
    }

    @Test
    void picturesComeFromWhereTheOperatorSaysAndFromNowhereElse() {
        PageFiles none = PageFiles.chat(List.of());
        PageFiles some = PageFiles.chat(List.of("https://a.example", "https://b.example:8443"));

        assertThat(none.find("/").policy()).contains("img-src 'self'; ");
        assertThat(text(none, "/")).contains("<meta name=\"images\" content=\"\">");
        assertThat(some.find("/").policy()).contains("img-src 'self' https://a.example https://b.example:8443; ");
        assertThat(text(some, "/"))
                .contains("<meta name=\"images\" content=\"https://a.example https://b.example:8443\">");
        assertThat(some.find("/docs").policy()).doesNotContain("a.example");
    }

    @Test
    void theConsoleAloneMayCallTheOpenidProvider() {
        PageFiles files = PageFiles.console(URI.create("https://id.example.com:8443/realms/shop"));

        assertThat(policy(files, "/")).contains("connect-src 'self' https://id.example.com:8443; base-uri");
        assertThat(policy(files, "/console/main.js")).contains("connect-src 'self';");
        assertThat(policy(PageFiles.console(null), "/")).contains("connect-src 'self';");
        // Its tokens may be at another origin
        PageFiles.PageFile page = Objects.requireNonNull(files.find("/"));
        assertThat(page.mayCall("https://token.example.com").policy())
                .contains("connect-src 'self' https://token.example.com https://id.example.com:8443;");
        assertThat(page.mayCall("https://id.example.com:8443")).isEqualTo(page);
        assertThat(page.mayCall("")).isEqualTo(page);
    }

    private static String policy(PageFiles files, String path) {
        return Objects.requireNonNull(files.find(path)).policy();
    }

    @Test
    void aPathNeverBecomesAFilesName() {
        PageFiles files = PageFiles.chat(List.of());

        for (String path : List.of(
                "/../openapi.yaml",
                "/app/../app/main.js",
                "/app/..%2fapp/main.js",
                "/console/main.js",
                "/db/V1__tables.sql",
                "/webroot/index.html",
                "/logback.xml",
                "/app/nothing.js",
                "/app/main",
                "//",
                "",
                "/app/")) {
            assertThat(files.find(path)).as(path).isNull();
        }
    }

    @Test
    void whatAModuleImportsIsServedWithIt() throws IOException {
        for (String path : paths()) {
            for (String target : imports(path)) {
                assertThat(servedWith(path).find(target))
                        .as(path + " imports " + target)
                        .isNotNull();
            }
        }
    }

    @Test
    void modulesDoNotImportEachOtherInACircle() throws IOException {
        Map<String, List<String>> left = new TreeMap<>();
        for (String path : paths()) {
            left.put(path, imports(path));
        }
        while (left.values().removeIf(targets -> targets.stream().noneMatch(left::containsKey))) {
            // Each pass takes away what imports nothing that is left.
        }
        assertThat(left).isEmpty();
    }

    private static List<String> imports(String path) {
        List<String> targets = new ArrayList<>();
        if (path.matches("/(app|console)/.*js")) {
            Matcher imports = IMPORT.matcher(text(servedWith(path), path));
            while (imports.find()) {
                targets.add(Path.of(path)
                        .resolveSibling(imports.group(1))
                        .normalize()
                        .toString());
            }
        }
        return targets;
    }

    private static PageFiles servedWith(String path) {
        return path.startsWith("/console/") ? PageFiles.console(null) : PageFiles.chat(List.of());
    }

    @Test
    void nothingComesFromAnotherHostAndNothingRunsInline() throws IOException {
        List<String> found = new ArrayList<>();
        for (String path : paths()) {
            if (path.startsWith("/vendor/")) {
                continue;
            }
            String text = Files.readString(Path.of(WEBROOT + path)).replace("http://www.w3.org/2000/svg", "");
            if (text.contains("http://") || text.contains("https://") || text.contains("innerHTML")) {
                found.add(path);
            }
            if (path.endsWith(".html") && text.matches("(?s).*(<script>|<style|style=|onclick).*")) {
                found.add(path + " inline");
            }
        }
        assertThat(found).isEmpty();
    }

    @Test
    void bothLanguagesSayTheSameThings() {
        assertThat(names("/app/texts-zh.js")).isNotEmpty().isEqualTo(names("/app/texts-en.js"));
        assertThat(names("/console/texts-zh.js")).isNotEmpty().isEqualTo(names("/console/texts-en.js"));
    }

    private static Set<String> names(String path) {
        return named("(?m)^  '?([\\w-]+)'?: ", text(servedWith(path), path));
    }

    /** A word without a text is shown as its own name: right for what a later server has, and not for what is written here. */
    @Test
    void theConsoleHasTextsForAllThatItsViewsName() {
        Set<String> texts = names("/console/texts-en.js");
        String views = text(PageFiles.console(null), "/console/views.js");
        Set<String> panels = named("(?s)\\{\\s*name: '(\\w+)',[^{}]*?call: 'GET", views);
        Set<String> actions = named("(?s)\\{\\s*name: '(\\w+)', call: '(?:POST|PUT|DELETE) ", views);

        assertThat(panels).hasSizeGreaterThan(20);
        assertThat(actions).hasSizeGreaterThan(20);
        assertThat(texts).containsAll(panels.stream().map(name -> "p_" + name).toList());
        assertThat(texts).containsAll(actions.stream().map(name -> "a_" + name).toList());
        for (String module : List.of("main", "overview", "panels", "actions", "fields", "values")) {
            assertThat(texts)
                    .as(module)
                    .containsAll(
                            named("[^\\w.]t\\('(\\w+)'", text(PageFiles.console(null), "/console/" + module + ".js")));
        }
    }

    private static String text(PageFiles files, String path) {
        return Objects.requireNonNull(files.find(path)).bytes().toString(StandardCharsets.UTF_8);
    }
}
