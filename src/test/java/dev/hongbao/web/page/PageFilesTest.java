package dev.hongbao.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
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
            String asked = path.equals("/operator/index.html") ? "/" : path.replace("/index.html", "/");
            boolean operators = path.startsWith("/operator/");
            boolean shared = path.startsWith("/vendor/") || path.equals("/icon.svg") || asked.equals("/");
            assertThat(PageFiles.chat(List.of()).find(asked) != null).as(path).isEqualTo(shared || !operators);
            assertThat(PageFiles.operator().find(asked) != null).as(path).isEqualTo(shared || operators);
        }
        assertThat(text(PageFiles.chat(List.of()), "/")).contains("/app/main.js");
        assertThat(text(PageFiles.operator(), "/")).contains("/operator/operator.js");
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
        assertThat(some.find("/docs/").policy()).doesNotContain("a.example");
    }

    @Test
    void aPathNeverBecomesAFilesName() {
        PageFiles files = PageFiles.chat(List.of());

        for (String path : List.of(
                "/../openapi.yaml",
                "/app/../app/main.js",
                "/app/..%2fapp/main.js",
                "/operator/operator.js",
                "/db/V1__ledger.sql",
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
                assertThat(PageFiles.chat(List.of()).find(target))
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
        if (path.startsWith("/app/")) {
            Matcher imports = IMPORT.matcher(text(PageFiles.chat(List.of()), path));
            while (imports.find()) {
                targets.add(Path.of(path)
                        .resolveSibling(imports.group(1))
                        .normalize()
                        .toString());
            }
        }
        return targets;
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
    }

    private static Set<String> names(String path) {
        return named("(?m)^  (\\w+): ", text(PageFiles.chat(List.of()), path));
    }

    private static String text(PageFiles files, String path) {
        return Objects.requireNonNull(files.find(path)).bytes().toString(StandardCharsets.UTF_8);
    }
}
