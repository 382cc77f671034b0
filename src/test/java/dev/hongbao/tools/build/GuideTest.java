package dev.hongbao.tools.build;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.Option.ConfigText;
import dev.hongbao.http.ProblemType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The guide and the README agree with the code, and every page of the guide renders. */
class GuideTest {
    private static final Path GUIDE = Path.of("src/site/markdown");
    private static final Path MIGRATIONS = Path.of("src/main/resources/db/migration");

    /** Two words at least, written as one: the name of a class. */
    private static final Pattern CLASS = Pattern.compile("[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+");

    /** Names of classes that are not ours, and names that only look like one. */
    private static final Set<String> FOREIGN = Set.of("SecureRandom", "NullMarked", "NullAway");

    private static final String SEARCH = "<script type=\"module\" src=\"../search.js\"></script>";
    private static final int MAX_LINE = 160;
    private static final int MAX_WORDS_OF_A_DECISION = 250;

    private static final Pattern ROW = Pattern.compile("(?m)^\\| (?<first>[^|]+) \\|.*\\| (?<last>[^|]*) \\|$");
    private static final Pattern SPAN = Pattern.compile("`([^`]+)`");
    private static final Pattern TEST_CLASS = Pattern.compile("\\w+(?:Test|IT)");
    private static final Pattern NAMED_TEST = Pattern.compile("\\b([A-Z]\\w*[a-z](?:Test|IT))\\b(?:#(\\w+))?");
    private static final Pattern MADE = Pattern.compile("(?m)^create (?:or replace )?(?:table|view|function) (\\w+)");

    static List<String> pages() {
        return GuidePages.PAGES;
    }

    static List<Path> documents() {
        return Stream.of(files(GUIDE, ".md"), files(Path.of(".github"), ".md"), Stream.of(Path.of("README.md")))
                .flatMap(each -> each)
                .toList();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void everyPageRenders(String page) {
        // When
        String html = GuidePages.render(page, read(GUIDE.resolve(page + ".md")));

        // Then it has one title, it marks itself, and nothing in it leads to the sources
        assertThat(html.split("<h1", -1)).hasSize(2);
        assertThat(html).containsOnlyOnce("aria-current").contains("</main>");
        assertThat(html)
                .doesNotContainPattern("href=\"[./]*(main|tools)/")
                .doesNotContain(".md\"")
                .doesNotContain(".md#");
        // And what scrolls can be reached with the keyboard
        assertThat(html).doesNotContain("<pre>");
        // And its only script is the search box's, in a file: the page's policy allows no other
        assertThat(html).containsOnlyOnce(SEARCH);
        assertThat(html.replace(SEARCH, "")).doesNotContain("<script").doesNotContain("style=");
        if (!page.equals("contributing")) {
            assertThat(html.replaceAll("(?s)<(code|pre)[^>]*>.*?</\\1>", ""))
                    .doesNotContain("```")
                    .doesNotContain("**");
        }
    }

    @Test
    void everyFileOfTheGuideIsAPage() {
        assertThat(files(GUIDE, ".md").map(GuideTest::name)).containsExactlyInAnyOrderElementsOf(GuidePages.PAGES);
    }

    @ParameterizedTest
    @MethodSource("documents")
    void everyLinkLeadsSomewhere(Path document) {
        // Given
        List<String> broken = new ArrayList<>();

        // When
        for (String link : links(GuidePages.parse(read(document)))) {
            if (!link.startsWith("https://") && !leadsSomewhere(document, link)) {
                broken.add(link);
            }
        }

        // Then
        assertThat(broken).isEmpty();
    }

    private static boolean leadsSomewhere(Path document, String link) {
        int hash = link.indexOf('#');
        String file = hash < 0 ? link : link.substring(0, hash);
        Path target = file.isEmpty() ? document : document.resolveSibling(file).normalize();
        return Files.exists(target)
                && (hash < 0
                        || List.copyOf(GuidePages.anchors(GuidePages.parse(read(target)))
                                        .values())
                                .contains(link.substring(hash + 1)));
    }

    @ParameterizedTest
    @MethodSource("documents")
    void everyClassItNamesIsThere(Path document) {
        assertThat(missing(names(GuidePages.parse(read(document))), classes())).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void everyTestItNamesIsThereInCommandsToo(Path document) {
        Map<String, Path> tests = files(Path.of("src", "test"), ".java")
                .collect(Collectors.toMap(GuideTest::name, test -> test, (one, other) -> one));
        Set<String> missing = new TreeSet<>();
        Matcher named = NAMED_TEST.matcher(read(document));
        while (named.find()) {
            Path test = tests.get(named.group(1));
            String method = named.group(2);
            if (test == null || method != null && !read(test).contains(" " + method + "(")) {
                missing.add(named.group());
            }
        }

        assertThat(missing).isEmpty();
    }

    @Test
    void everyClassInAPictureIsThere() {
        TreeSet<String> named = new TreeSet<>();
        files(GUIDE, ".svg").forEach(picture -> {
            Matcher texts = Pattern.compile(">([^<]+)</text>").matcher(read(picture));
            while (texts.find()) {
                Matcher names = Pattern.compile("\\b" + CLASS + "\\b").matcher(texts.group(1));
                while (names.find()) {
                    named.add(names.group());
                }
            }
        });
        named.removeAll(Set.of("WebSocket"));
        named.removeAll(FOREIGN);
        assertThat(named).isNotEmpty();
        assertThat(missing(named, classes())).isEmpty();
    }

    @Test
    void everyClassThatADoorNamesIsThere() {
        TreeSet<String> named = new TreeSet<>();
        Stream.of("src/main/java", "src/tools/java")
                .flatMap(root -> files(Path.of(root), "package-info.java"))
                .forEach(door -> Pattern.compile("\\{@code\\s+(" + CLASS + ")}")
                        .matcher(read(door).replaceAll("\\n \\*\\s*", " "))
                        .results()
                        .forEach(name -> named.add(name.group(1))));

        assertThat(named).hasSizeGreaterThan(80);
        assertThat(missing(named, classes())).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void everyPageSaysForWhomItIsAndWhatForIt(String page) {
        String[] paragraphs = read(GUIDE.resolve(page + ".md")).split("\n\n", 3);

        assertThat(paragraphs[0]).startsWith("# ");
        assertThat(paragraphs[1]).startsWith("For ").containsPattern("After (it|this page)\\b");
    }

    @ParameterizedTest
    @MethodSource("pages")
    void linesFitAScreenButForTablesAndLinks(String page) {
        assertThat(read(GUIDE.resolve(page + ".md")).lines())
                .filteredOn(line -> line.length() > MAX_LINE && !line.startsWith("|") && !line.contains("]("))
                .filteredOn(
                        line -> !line.startsWith("ACL SETUSER") && !line.startsWith("- `ignore_startup_parameters`"))
                .isEmpty();
    }

    @Test
    void aDecisionIsShort() {
        for (String decision : read(GUIDE.resolve("decisions.md")).split("\n(?=###? )")) {
            assertThat(decision.split("\\s+").length)
                    .as(decision.lines().findFirst().orElse(""))
                    .isLessThanOrEqualTo(decision.startsWith("## Limits") ? 400 : MAX_WORDS_OF_A_DECISION);
        }
    }

    @Test
    void everyProblemHasAnAdvice() {
        // Given the rows of the page: names, statuses, meaning, what to do
        String page = read(GUIDE.resolve("errors.md"));
        List<String> named = new ArrayList<>();
        Matcher rows = Pattern.compile("(?m)^\\| (`[^|]+) \\| ([\\d, ]+) \\| [^|]+ \\| [^|]+ \\|$")
                .matcher(page);
        while (rows.find()) {
            List<String> statuses = List.of(rows.group(2).split(", "));
            Matcher names = SPAN.matcher(rows.group(1));
            for (int i = 0; names.find(); i++) {
                named.add(names.group(1) + " " + statuses.get(Math.min(i, statuses.size() - 1)));
            }
        }

        // Then each problem stands there once, with its status
        assertThat(named)
                .containsExactlyInAnyOrderElementsOf(Stream.of(ProblemType.values())
                        .map(type -> type.wireName() + " " + type.status())
                        .toList());
    }

    @Test
    void theSearchFindsEverySectionByItsWords() {
        // Given a page with a title, a heading that is there twice, a table and commands
        List<GuidePages.Section> sections = GuidePages.sections("money", """
                # Money and `books`
                First *words*,
                next line.

                ## Assets
                | code | meaning |
                |---|---|
                | `CNY` | fen |

                ```sh
                curl -s $URL/v1/assets
                ```
                ```json
                {"left":"out"}
                ```
                ## Assets
                - one
                - [two](tokens.md)
                """);

        // Then each section has its address, and its words without markup
        assertThat(sections)
                .containsExactly(
                        new GuidePages.Section(
                                "money.html", "Money and books", "Money and books", "First words, next line."),
                        new GuidePages.Section(
                                "money.html#assets",
                                "Money and books",
                                "Assets",
                                "code meaning CNY fen curl -s $URL/v1/assets"),
                        new GuidePages.Section("money.html#assets-1", "Money and books", "Assets", "one two"));
    }

    @Test
    void theTableOfOptionsIsTheOneTheProgramPrints() {
        assertThat(read(GUIDE.resolve("options.md")))
                .contains("-->\n" + ConfigText.markdownTable() + "<!-- end of options -->");
    }

    @Test
    void everyNameInTheGlossaryIsAClassATableAFunctionOrAScript() {
        Set<String> known = new TreeSet<>(classes());
        files(MIGRATIONS, ".sql").forEach(migration -> {
            Matcher made = MADE.matcher(read(migration));
            while (made.find()) {
                known.add(made.group(1));
            }
        });
        files(Path.of("src/main/resources/lua"), ".lua")
                .forEach(script -> known.add(script.getFileName().toString()));

        Matcher rows = Pattern.compile("(?m)^\\| [^|]+ \\| [^|]+ \\| ([^|]+) \\| [^|]+ \\|$")
                .matcher(read(GUIDE.resolve("glossary.md")));
        TreeSet<String> named = new TreeSet<>();
        while (rows.find()) {
            Matcher spans = SPAN.matcher(rows.group(1));
            while (spans.find()) {
                named.add(spans.group(1));
            }
        }
        assertThat(named).hasSizeGreaterThan(50);
        assertThat(missing(named, known)).isEmpty();
    }

    @Test
    void everyGuaranteeNamesTestsThatAreThere() {
        Matcher rows = ROW.matcher(read(GUIDE.resolve("guarantees.md")));
        List<String> numbers = new ArrayList<>();
        while (rows.find()) {
            if (rows.group("first").matches("I\\d+")) {
                numbers.add(rows.group("first"));
                List<String> tests = SPAN.matcher(rows.group("last"))
                        .results()
                        .map(span -> span.group(1))
                        .filter(TEST_CLASS.asMatchPredicate())
                        .toList();
                assertThat(tests).as(rows.group("first")).isNotEmpty();
                assertThat(missing(tests, classes())).isEmpty();
            }
        }
        assertThat(numbers)
                .isEqualTo(IntStream.rangeClosed(1, 16).mapToObj(n -> "I" + n).toList());
    }

    @Test
    void theInvariantsOfTheArchitectureAreTheGuarantees() {
        assertThat(numbers("architecture.md")).isEqualTo(numbers("guarantees.md"));
    }

    private static List<String> numbers(String page) {
        return Pattern.compile("(?m)^\\| (I\\d+) \\|")
                .matcher(read(GUIDE.resolve(page)))
                .results()
                .map(row -> row.group(1))
                .toList();
    }

    private static List<String> links(Node document) {
        List<String> links = new ArrayList<>();
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Link link) {
                links.add(link.getDestination());
                visitChildren(link);
            }

            @Override
            public void visit(Image image) {
                links.add(image.getDestination());
            }
        });
        return links;
    }

    /** The names of classes in code, without classes of other projects. */
    private static Set<String> names(Node document) {
        Set<String> names = new TreeSet<>();
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Code code) {
                if (CLASS.matcher(code.getLiteral()).matches() && !FOREIGN.contains(code.getLiteral())) {
                    names.add(code.getLiteral());
                }
            }
        });
        return names;
    }

    private static Set<String> missing(Collection<String> named, Set<String> known) {
        Set<String> missing = new TreeSet<>(named);
        missing.removeAll(known);
        return missing;
    }

    private static Set<String> classes() {
        Set<String> classes = new TreeSet<>();
        files(Path.of("src"), ".java").forEach(file -> classes.add(name(file)));
        return classes;
    }

    private static String name(Path file) {
        return file.getFileName().toString().replaceAll("\\.\\w+$", "");
    }

    private static Stream<Path> files(Path directory, String ending) {
        try (Stream<Path> found = Files.walk(directory)) {
            return found.filter(file -> file.toString().endsWith(ending)).sorted().toList().stream();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
