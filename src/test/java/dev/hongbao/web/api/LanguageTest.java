package dev.hongbao.web.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.web.access.TokenVerdict;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Problems are told in the reader's language. */
class LanguageTest {
    private static final Map<String, Object> CHINESE = new JsonObject(Contract.text("problems_zh.json")).getMap();

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
            })
    void theReadersBestLanguageOfThoseThereAre(String accepted, Language language) {
        assertThat(Language.of(accepted)).isEqualTo(language);
    }

    @Test
    void everySentenceThatTheSourceSaysIsThereInChinese() throws Exception {
        Set<String> said = new TreeSet<>(Sentences.in(Path.of("src/main/java")));
        for (ProblemType type : ProblemType.values()) {
            said.add(type.title());
            said.add(type.advice());
        }
        Contract.document().getJsonObject(Contract.PATTERN_WORDS).forEach(words -> said.add((String) words.getValue()));
        Arrays.stream(TokenVerdict.Fault.values()).forEach(fault -> said.add(fault.sentence()));

        said.removeIf(sentence -> !Language.CHINESE.say(sentence).equals(sentence));
        assertThat(said).as("sentences without Chinese in problems_zh.json").isEmpty();
    }

    @Test
    void whatASentenceNamesIsNamedInChineseToo() {
        CHINESE.forEach((english, chinese) -> {
            long named = Pattern.compile("\\{}").matcher(english).results().count();
            for (int i = 0; i < named; i++) {
                assertThat((String) chinese).as(english).contains("{" + i + "}");
            }
            assertThat((String) chinese).as(english).doesNotContain("{" + named + "}");
        });
    }

    @Test
    void theMoreExactFormIsTaken() {
        assertThat(Language.CHINESE.say("must be at most 7 with this amount")).isEqualTo("按此金额最多为 7");
        assertThat(Language.CHINESE.say("must be at most 7")).isEqualTo("最多为 7");
        assertThat(Language.CHINESE.say("must be of type integer or object")).isEqualTo("类型必须是 integer 或 object");
        assertThat(Language.CHINESE.say("Get a new token: the token has expired."))
                .isEqualTo("请换新令牌：令牌已过期。");
        assertThat(Language.CHINESE.say("Nobody wrote this.")).isEqualTo("Nobody wrote this.");
        assertThat(Language.ENGLISH.say("must be at most 7")).isEqualTo("must be at most 7");
    }

    @Test
    void aFaultIsToldWithItsPlace() {
        Problem problem = Problem.of(InvalidInputException.of("#/amount", "must be at least 1"));

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
