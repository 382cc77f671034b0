package dev.hongbao.draw;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.JournalEntry.JournalItem;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DecidedTurnTest {
    private static final String WHOSE = "01a2015b-714c-7f79-8b65-aed6023c9fe6 72998098-86b5-8d19-8892-191b0d8ae3fa"
            + " 20f09218-7dd8-8cb5-a14b-786f42cee457 ann 1700000000000";

    @ParameterizedTest
    @ValueSource(
            strings = {
                " 0 1:1 -",
                " 41 1:1,2:3 5,-1,2",
                " 7 1:1:12:3,2:1:12:4 1 13",
                " 0 2:1 - -1",
                " ! limit",
                " ! undecided"
            })
    void whatAScriptWroteIsReadAndKeptAsItWas(String decision) {
        JournalItem read = DecidedPlayRequest.FORMAT.read(WHOSE + decision);

        assertThat(read).isInstanceOf(DecidedPlayRequest.class);
        assertThat(read.payload()).isEqualTo(WHOSE + decision);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " 0", " 0 1:1", " 0 1 -", " 0 1:1:1 -", " x 1:1 -", " 0 1:1 - more", " 0 1:1 - 1 2"})
    void anotherTextIsNone(String decision) {
        assertThat(DecidedPlayRequest.FORMAT.read(WHOSE + decision)).isNull();
    }
}
