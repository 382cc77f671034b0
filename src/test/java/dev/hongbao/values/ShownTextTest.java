package dev.hongbao.values;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShownTextTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "小明",
                "Anna-Lena O’Neil",
                "مريم",
                "👨\u200D👩\u200D👧 family",
                "می\u200Cخواهم",
                "<b>not bold</b>",
                "𠮷野家",
                "I ❤\uFE0F it",
                "葛\uDB40\uDD00城",
                "हिन्दी"
            })
    void namesOfAnyLanguageAreTaken(String name) {
        assertThat(ShownText.isName(name, 64)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "　",
                " padded",
                "tab\tbed",
                "line\nbreak",
                "nul\u0000",
                "\u202Egnp.exe",
                "\u2066isolate",
                "mark\u200F",
                "\u061Cletter",
                "zero\u200Bwidth",
                "\uFEFFmark",
                "soft\u00ADhyphen",
                "half \uD83D",
                "\u2028line",
                "private \uE000",
                "\uFFFF",
                "tag \uDB40\uDC41",
                "\u3164",
                "anna\u3164",
                "\u2800",
                "\u00A0",
                "\u200D",
                "\uFE0F",
                "\uDB40\uDD00"
            })
    void whatCouldLookLikeSomethingElseIsRefused(String name) {
        assertThat(ShownText.isName(name, 64)).isFalse();
    }

    @Test
    void aNameIsCountedInCharactersThatPeopleCount() {
        assertThat(ShownText.isName("😀".repeat(64), 64)).isTrue();
        assertThat(ShownText.isName("😀".repeat(65), 64)).isFalse();
    }
}
