package dev.hongbao.packet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.values.PacketId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PasscodeTest {
    private static final PacketId PACKET = PacketId.create();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1\u200b23",
                "\ufeff123",
                "1\u00ad23",
                "123\ufe0f",
                "\u202e123\u202c",
                " \u200b 123 \u200b ",
                "\u00a0123\u3000",
                "\uff11\uff12\uff13",
                "1\u200d2\u20603",
                "123\u0000\n"
            })
    void whatLooksTheSameIsTheSame(String typed) {
        assertThat(Passcode.of(PACKET, typed).matches(PACKET, "123")).isTrue();
        assertThat(Passcode.of(PACKET, "123").matches(PACKET, typed)).isTrue();
    }

    @Test
    void whatLooksOtherwiseIsAnother() {
        assertThat(Passcode.of(PACKET, "1 23").matches(PACKET, "123")).isFalse();
        assertThat(Passcode.of(PACKET, "ABC").matches(PACKET, "abc")).isFalse();
        assertThat(Passcode.of(PACKET, "恭喜发财").matches(PACKET, "恭喜發財")).isFalse();
        assertThat(Passcode.of(PACKET, "e\u0301").matches(PACKET, "\u00e9")).isTrue();
        assertThat(Passcode.of(PACKET, "e").matches(PACKET, "\u00e9")).isFalse();
    }

    @Test
    void aPasscodeThatNobodySeesIsNone() {
        assertThat(Passcode.isSeen("\u200b\ufe0f \u2060")).isFalse();
        assertThat(Passcode.isSeen("☺\ufe0f")).isTrue();
    }
}
