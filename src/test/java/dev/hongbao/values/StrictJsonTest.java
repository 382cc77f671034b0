package dev.hongbao.values;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StrictJsonTest {

    @Test
    void wholeNumbersAndTextsComeThroughExactly() {
        var json = StrictJson.COMMAND.decode(
                "{\"a\":9223372036854775807,\"b\":-9223372036854775808,\"c\":\"恭喜🧧\",\"d\":[null,true,{}]}");

        assertThat(json.getValue("a")).isEqualTo(Long.MAX_VALUE);
        assertThat(json.getValue("b")).isEqualTo(Long.MIN_VALUE);
        assertThat(json.getString("c")).isEqualTo("恭喜🧧");
        assertThat(json.getJsonArray("d").size()).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'amount':0.1} | #/amount",
                "{'amount':1.0} | #/amount",
                "{'amount':1e2} | #/amount",
                "{'amount':9223372036854775808} | #/amount",
                "{'amount':-9223372036854775809} | #/amount",
                "{'a':{'b':[1,2.5]}} | #/a/b/1",
            })
    void aNumberThatIsNoExactLongIsRefusedByItsPlace(String text, String pointer) {
        assertRefused(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8), pointer, false);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'a':1,'a':2} | #/a",
                "{'a':{'b':1,'b':1}} | #/a/b",
                "{'a':NaN} | #/a",
                "{'a':Infinity} | #/a",
                "{'a':01} | #/a",
                "{'a':+1} | #/a",
                "{'a':0x10} | #/a",
                "{'a':'\\u0000'} | #/a",
                "{'a':'\\ud83e'} | #/a",
                "{'a':'\\udde7\\ud83e'} | #/a",
                "{'a':1} x | #",
                "{'a':1}{} | #",
                "{'a':1 | #",
                "{'a' | #",
                "{a:1} | #",
                "{'a':1,} | #",
                "{'a':[1,]} | #",
                "{'a':1 /* c */} | #",
                "[] | #",
                "1 | #",
                "null | #",
                "'x' | #",
            })
    void whatIsNoStrictJsonIsRefused(String text, String pointerStart) {
        assertThatExceptionOfType(InvalidInputException.class)
                .isThrownBy(() -> StrictJson.COMMAND.decode(text.replace('\'', '"')))
                .satisfies(refused -> {
                    assertThat(refused.isMalformedJson()).isTrue();
                    assertThat(refused.faults().get(0).pointer()).startsWith(pointerStart);
                });
    }

    @Test
    void aBodyWithoutTextIsRefused() {
        assertRefused(new byte[0], "#", true);
    }

    @ParameterizedTest
    @ValueSource(strings = {"c328", "eda080", "c080", "f8888080", "ff"})
    void invalidUtf8IsRefused(String hex) {
        byte[] bad = java.util.HexFormat.of().parseHex("7b2261223a22" + hex + "227d");

        assertRefused(bad, "#", true);
    }

    @Test
    void utf16IsRefused() {
        assertRefused("{\"a\":1}".getBytes(StandardCharsets.UTF_16LE), "#", true);
    }

    @Test
    void deepNestingAndLongNumbersAreRefusedWithoutHarm() {
        String deep = "{\"a\":" + "[".repeat(10_000) + "]".repeat(10_000) + "}";
        String lengthy = "{\"a\":" + "9".repeat(50_000) + "}";

        for (String text : new String[] {deep, lengthy, "{\"a\":" + "{\"a\":".repeat(20)}) {
            assertThatExceptionOfType(InvalidInputException.class)
                    .isThrownBy(() -> StrictJson.COMMAND.decode(text))
                    .satisfies(refused -> assertThat(refused.isMalformedJson()).isTrue());
        }
    }

    @Test
    void aRefusalNeverRepeatsTheInput() {
        assertThatExceptionOfType(InvalidInputException.class)
                .isThrownBy(() -> StrictJson.COMMAND.decode("{\"passcode\": secret-word}"))
                .satisfies(refused -> assertThat(refused.getMessage()).doesNotContain("secret"));
    }

    @Test
    void foreignDocumentsMayHoldFractions() {
        assertThat(StrictJson.FOREIGN.decode("{\"exp\":1.5}").getValue("exp")).isEqualTo(1.5);
    }

    private static void assertRefused(byte[] bytes, String pointer, boolean malformed) {
        assertThatExceptionOfType(InvalidInputException.class)
                .isThrownBy(() -> StrictJson.COMMAND.decode(bytes))
                .satisfies(refused -> {
                    assertThat(refused.isMalformedJson()).isEqualTo(malformed);
                    assertThat(refused.faults().get(0).pointer()).isEqualTo(pointer);
                });
    }
}
