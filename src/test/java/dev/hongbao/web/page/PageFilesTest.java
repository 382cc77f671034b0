package dev.hongbao.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PageFilesTest {
    private static final Path WEBROOT = Path.of("src/main/resources/webroot");
    private static final Pattern IMPORT = Pattern.compile("from '([^']+)'");

    @Test
    void everyFileOfTheWebrootIsServedAndNoOther() throws IOException {
        TreeSet<String> served = new TreeSet<>();
        PageFiles.chat().paths().forEach(served::add);
        PageFiles.operator().paths().forEach(served::add);
        served.remove("/");

        TreeSet<String> there = new TreeSet<>();
        try (Stream<Path> files = Files.walk(WEBROOT)) {
            files.filter(Files::isRegularFile).forEach(file -> there.add("/" + WEBROOT.relativize(file)));
        }
        there.removeIf(path -> path.endsWith("index.html"));
        assertThat(served).isEqualTo(there);
    }

    @Test
    void aPathNeverBecomesAFilesName() {
        PageFiles files = PageFiles.chat();

        for (String path :
                List.of("/../openapi.yaml", "/app/../app/main.js", "/operator/operator.js", "//", "", "/app/")) {
            assertThat(files.find(path)).as(path).isNull();
        }
    }

    @Test
    void whatAModuleImportsIsServedWithIt() throws IOException {
        PageFiles files = PageFiles.chat();
        for (String path : files.paths()) {
            if (path.endsWith(".js")) {
                Matcher imports = IMPORT.matcher(text(files, path));
                while (imports.find()) {
                    String target = Path.of(path)
                            .resolveSibling(imports.group(1))
                            .normalize()
                            .toString();
                    assertThat(files.find(target))
                            .as(path + " imports " + target)
                            .isNotNull();
                }
            }
        }
    }

    @Test
    void nothingComesFromAnotherHostAndNothingRunsInline() {
        List<String> found = new ArrayList<>();
        for (PageFiles files : List.of(PageFiles.chat(), PageFiles.operator())) {
            for (String path : files.paths()) {
                if (path.startsWith("/vendor/")) {
                    continue;
                }
                String text = text(files, path).replace("http://www.w3.org/2000/svg", "");
                if (text.contains("http://") || text.contains("https://") || text.contains("innerHTML")) {
                    found.add(path);
                }
                if (path.equals("/") && text.matches("(?s).*(<script>|<style|style=|onclick).*")) {
                    found.add(path + " inline");
                }
            }
        }
        assertThat(found).isEmpty();
    }

    @Test
    void bothLanguagesSayTheSameThings() {
        assertThat(names("/app/texts-zh.js")).isNotEmpty().isEqualTo(names("/app/texts-en.js"));
    }

    private static TreeSet<String> names(String path) {
        TreeSet<String> names = new TreeSet<>();
        Matcher fields = Pattern.compile("(?m)^  (\\w+): ").matcher(text(PageFiles.chat(), path));
        while (fields.find()) {
            names.add(fields.group(1));
        }
        return names;
    }

    private static String text(PageFiles files, String path) {
        return Objects.requireNonNull(files.find(path)).bytes().toString(StandardCharsets.UTF_8);
    }
}
