package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Call.Preferences;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read of RFC 7240. */
class PreferencesTest {
    private static Preferences of(String... lines) {
        return Preferences.of(List.of(lines));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "respond-async",
                "Respond-Async",
                " respond-async ; foo=bar",
                "respond-async;",
                "respond-async=\"\"",
                "wait=10, respond-async",
                "return=minimal,,respond-async",
                "foo=\"a, b; \\\" c\", respond-async"
            })
    void anAnswerIsWishedForAtOnce(String line) {
        assertThat(of(line).isAsync()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ",",
                "async",
                "respond-async=yes",
                "respond-asynchronously",
                "foo; respond-async",
                "foo=\"respond-async\"",
                "foo=\", respond-async",
                "foo=\"a, respond-async, b\""
            })
    void anAnswerIsNotWishedForAtOnce(String line) {
        assertThat(of(line).isAsync()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "wait=7                    | 7",
                "WAIT = 7                  | 7",
                "wait=\"7\"              | 7",
                "wait=7; foo=8             | 7",
                "respond-async, wait=7     | 7",
                "wait=9999                 | 30",
                "wait=7, wait=8            | 7",
                "wait=x, wait=8            | 0",
                "wait=-1                   | 0",
                "wait=99999                | 0",
                "wait                      | 0",
                "wait=\"7                 | 0",
                "foo; wait=7               | 0",
                "waits=7                   | 0"
            })
    void theSecondsToWaitAreRead(String line, int seconds) {
        assertThat(of(line).waitSeconds()).isEqualTo(seconds);
    }

    @Test
    void severalHeadersAreOneListOfWhichTheFirstOfANameCounts() {
        Preferences two = of("return=minimal, wait=7", "wait=8, respond-async");

        assertThat(two.waitSeconds()).isEqualTo(7);
        assertThat(two.isAsync()).isTrue();
        assertThat(of("respond-async=no", "respond-async").isAsync()).isFalse();
        assertThat(of().waitSeconds()).isZero();
        assertThat(of().isAsync()).isFalse();
    }
}
