package dev.hongbao.values;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RefusedJsonTest {

    private static String id(String text) {
        return StrictJson.topText(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8), "id");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'id':'恭喜🧧'}",
                "{'a':8.88,'id':'恭喜🧧'}",
                "{'id':'恭喜🧧','a':{'b':[1e400, 99999999999999999999]}}",
                "{'a':'\\u0000\\ud83e','a':1,'\\u0069d':'恭喜🧧'}",
                "{'b':{'id':'1'},'c':[{'id':'2'}],'id':'恭喜🧧'}",
                "{'b':'id','id':'\\u606d喜🧧'} "
            })
    void aTextAtTheTopIsFoundWhateverElseIsThere(String text) {
        assertThat(id(text)).isEqualTo("恭喜🧧");
    }

    @Test
    void longNumbersNamesAndDeepNestingDoNotHideIt() {
        assertThat(id("{'a':" + "9".repeat(60_000) + ",'" + "n".repeat(60_000) + "':1,'id':'x'}"))
                .isEqualTo("x");
        assertThat(id("{'a':" + "[".repeat(900) + "]".repeat(900) + ",'id':'x'}"))
                .isEqualTo("x");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "[]",
                "['id','x']",
                "'id'",
                "{'a':{'id':'x'}}",
                "{'id':7}",
                "{'id':null}",
                "{'id':['x']}",
                "{'id':{'id':'x'}}",
                "{'id':'x','id':'x'}",
                "{'id':7,'id':'x'}",
                "{'id':'x','id':{}}",
                "{'id':'\\u0000'}",
                "{'id':'\\ud83e'}"
            })
    void whatIsNoTextOrIsThereTwiceOrCanNotBeKeptIsNone(String text) {
        assertThat(id(text)).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'id':'x'",
                "{'id':'x',}",
                "{'id':'x','a':NaN}",
                "{'id':'x','a':'\\q'}",
                "{'id':'x'} {}",
                "{'id':'x'} x",
                "x{'id':'x'}"
            })
    void nothingIsFoundInWhatIsNotJson(String text) {
        assertThat(id(text)).isNull();
    }

    @Test
    void nothingIsFoundInWhatIsNotUtf8OrNestsWithoutEnd() {
        assertThat(StrictJson.topText("{\"id\":\"x\",\"a\":\"é\"}".getBytes(StandardCharsets.ISO_8859_1), "id"))
                .isNull();
        assertThat(id("{'id':'x','a':" + "[".repeat(10_000) + "]".repeat(10_000) + "}"))
                .isNull();
    }
}
