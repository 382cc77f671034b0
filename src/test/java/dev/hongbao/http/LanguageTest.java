package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import dev.hongbao.access.Tokens.TokenVerdict;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Text;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Problems are told in the reader's language. */
class LanguageTest {
    private static final Properties ENGLISH = Text.ENGLISH;
    private static final Properties CHINESE = Text.table("zh");

    /** These make keys out of names, and {@link #theTablesHaveTheTextsThatTheSourceNamesAndNoOthers} adds those. */
    private static final Set<String> MAKE_KEYS = Set.of("ProblemType.java", "Tokens.java", "Schema.java", "Text.java");

    private static final Pattern JS_TEXT = Pattern.compile("(['\"`])((?:\\\\.|(?!\\1).){12,}?)\\1");

    /** A clause as the subject, a verb before its subject, "is told", "that of", a program that is a he. */
    private static final Pattern RIDDLE = Pattern.compile(
            "^(Who|Whoever|Whose|What|Whatever|Where|Whichever|How)\\b[^?]*\\.$"
                    + "|^(Tried|Weighed|Measured|Left|Chosen|So|Nor|Neither) (was|were|is|are)\\b|^(The same\\b|Likewise)"
                    + "|\\b(is|are|was|were) told\\b|\\b(tells?|hears?) of\\b|\\b(that|those) of\\b|\\b(he|his|him|whoever|thereof)\\b");

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            delimiter = '|',
            value = {
                "none | ENGLISH",
                "zh-CN | CHINESE",
                "zh-Hans-CN,zh;q=0.9,en;q=0.1 | CHINESE",
                "en-GB,en;q=0.9,zh;q=0.8 | ENGLISH",
                "fr,zh;q=0.5 | CHINESE",
                "zh;q=0.1,en;q=0.9 | ENGLISH",
                "fr | ENGLISH",
                "* | ENGLISH",
                ";;;q=x | ENGLISH",
                "zh;q=0 | ENGLISH",
                "- | ENGLISH",
                "-,zh | CHINESE",
                "zh;q=x,en;q=0.1 | ENGLISH",
                "zh;q=0.5,en;q=0.5 | CHINESE",
                "ZH-TW ; q=0.900 , en;q=0.8 | CHINESE",
                "zhx,enx;q=0.1 | ENGLISH",
            })
    void theReadersBestLanguageOfThoseThereAre(String accepted, Language language) {
        assertThat(Language.of(accepted)).isEqualTo(language);
    }

    /** Anybody may send them, and an event loop reads them. */
    @ParameterizedTest
    @ValueSource(strings = {"*-", "zh-", "en -", ";", " ", "zh;q=0.", "zh ;", "l-%d,", "zh-%d;q=0.1,", "zh;q=0 ,"})
    void aHeaderOfManyRangesOrPartsIsReadAtOnce(String part) {
        String header = IntStream.range(0, 8_000).mapToObj(part::formatted).collect(Collectors.joining());

        assertThat(assertTimeoutPreemptively(Duration.ofSeconds(1), () -> Language.of(header + "*,zh;q=0.5")))
                .isEqualTo(Language.CHINESE);
    }

    @Test
    void bothTablesHaveTheSameTextsWithTheSameParameters() {
        assertThat(CHINESE.keySet()).isEqualTo(ENGLISH.keySet());
        for (String key : ENGLISH.stringPropertyNames()) {
            assertThat(parameters(CHINESE, key)).as(key).isEqualTo(parameters(ENGLISH, key));
        }
    }

    @Test
    void theEnglishTextsOfProblemsPageAndConsoleAreInPlainWords() throws Exception {
        List<String> texts = new ArrayList<>(
                ENGLISH.values().stream().map(String.class::cast).toList());
        for (String page : List.of("app", "console")) {
            String table = Files.readString(Path.of("src/main/resources/webroot", page, "texts-en.js"));
            JS_TEXT.matcher(table).results().forEach(text -> texts.add(text.group(2)));
        }

        assertThat(texts).hasSizeGreaterThan(600);
        for (String text : texts) {
            for (String sentence : text.split("(?<=[.!?:;])\\s+")) {
                assertThat(sentence.split("\\s+")).as(sentence).hasSizeLessThan(31);
                assertThat(sentence).doesNotContainPattern(RIDDLE);
            }
        }
    }

    @Test
    void theTablesHaveTheTextsThatTheSourceNamesAndNoOthers() throws Exception {
        Set<String> named = namedInSources();
        for (ProblemType type : ProblemType.values()) {
            named.add(type.title().key());
            named.add(type.advice().key());
        }
        for (TokenVerdict.Fault fault : TokenVerdict.Fault.values()) {
            named.add(TokenVerdict.refused(fault).sentence().key());
        }
        for (String contract : List.of("openapi.json", "console.json")) {
            new JsonObject(Contract.text(contract))
                    .getJsonObject(Contract.PATTERN_WORDS)
                    .forEach(words ->
                            named.add(Text.saying((String) words.getValue()).key()));
        }

        assertThat(ENGLISH.stringPropertyNames()).containsExactlyInAnyOrderElementsOf(named);
    }

    /** The keys in the source; each is given as many arguments as its sentence has parameters. */
    private static Set<String> namedInSources() throws Exception {
        Set<String> named = new TreeSet<>();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null);
                Stream<Path> main = Files.walk(Path.of("src/main/java"));
                Stream<Path> tools = Files.walk(Path.of("src/tools/java"))) {
            List<Path> files = Stream.concat(main, tools)
                    .filter(file -> file.toString().endsWith(".java"))
                    .toList();
            JavacTask task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            for (CompilationUnitTree unit : task.parse()) {
                String file =
                        Path.of(unit.getSourceFile().toUri()).getFileName().toString();
                new TreeScanner<@Nullable Void, @Nullable Void>() {
                    @Override
                    public @Nullable Void visitMethodInvocation(MethodInvocationTree call, @Nullable Void none) {
                        String method = call.getMethodSelect().toString();
                        if (method.equals("Text.of") || file.equals("Text.java") && method.equals("of")) {
                            add(call);
                        }
                        return super.visitMethodInvocation(call, none);
                    }

                    private void add(MethodInvocationTree call) {
                        if (call.getArguments().get(0) instanceof LiteralTree literal) {
                            String key = (String) literal.getValue();
                            named.add(key);
                            assertThat(parameters(ENGLISH, key))
                                    .as("%s in %s", call, file)
                                    .hasSize(call.getArguments().size() - 1);
                        } else {
                            assertThat(MAKE_KEYS).as("%s", call).contains(file);
                        }
                    }
                }.scan(unit, null);
            }
        }
        return named;
    }

    /** All that a sentence has: {@code {0}}, {@code {1}} and so on. */
    private static Set<String> parameters(Properties table, String key) {
        Set<String> found = Pattern.compile("\\{\\d}")
                .matcher(table.getProperty(key, ""))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
        int n = 0;
        for (String each : found) {
            assertThat(each).as(key).isEqualTo("{" + n++ + "}");
        }
        return found;
    }

    @Test
    void aTextNamesItsArgumentsInTheReadersLanguage() {
        Text text = Text.of("token.new", Text.of("token.expired"));
        Text hostile = Text.of("token.new", "{0} $1 \\");

        assertThat(Language.CHINESE.say(text)).isEqualTo("请换新令牌：令牌已过期。");
        assertThat(Language.ENGLISH.say(text)).isEqualTo("Get a new token: the token has expired.");
        assertThat(Language.CHINESE.say(Text.of("split.total", 9, 10))).isEqualTo("总额必须在 1 到 9 之间，而不是 10");
        assertThat(hostile).hasToString("Get a new token: {0} $1 \\.");
    }

    @Test
    void aFaultIsToldWithItsPlace() {
        Problem problem = Problem.of(InvalidInputException.of("#/amount", Text.of("number.at-least", 1)));

        JsonObject english = new JsonObject(problem.toJson(Language.ENGLISH));
        JsonObject chinese = new JsonObject(problem.toJson(Language.CHINESE));

        assertThat(english.getString("detail")).isEqualTo("#/amount must be at least 1.");
        assertThat(chinese.getString("detail")).isEqualTo("#/amount 最少为 1。");
        assertThat(chinese.getString("title")).isEqualTo("请求不符合接口契约");
        assertThat(chinese.getString("type")).isEqualTo(english.getString("type"));
        assertThat(chinese.getJsonArray("errors").getJsonObject(0).getString("detail"))
                .isEqualTo("最少为 1");
    }
}
