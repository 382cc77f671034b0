package dev.hongbao.values;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MetadataTest {
    @Test
    void theSameWordsAreTheSameTextInAnyOrder() {
        Map<String, String> one = new LinkedHashMap<>();
        one.put("order", "4711");
        one.put("a", "抢");
        Map<String, String> other = new LinkedHashMap<>();
        other.put("a", "抢");
        other.put("order", "4711");

        assertThat(Metadata.of(one)).isEqualTo(Metadata.of(other));
        assertThat(Metadata.of(one).json()).isEqualTo("{\"a\":\"抢\",\"order\":\"4711\"}");
        assertThat(Metadata.of(Map.of())).isEqualTo(Metadata.NONE).isEqualTo(Metadata.of(null));
    }

    @Test
    void whatIsTooMuchOrNoTextIsRefused() {
        Map<String, Object> many = new HashMap<>();
        for (int i = 0; i < 20; i++) {
            many.put("k" + i, "v");
        }
        assertThat(Metadata.of(many).isEmpty()).isFalse();
        many.put("one more", "v");
        String fits = "x".repeat(2_048 - "{\"k\":\"\"}".length());
        assertThat(Metadata.of(Map.of("k", fits)).json()).hasSize(2_048);
        assertThat(Metadata.of(Map.of("🧧".repeat(64), "v")).isEmpty()).isFalse();

        for (Map<?, ?> bad : new Map<?, ?>[] {
            many,
            Map.of("k", fits + "x"),
            Map.of("k", "抢".repeat(700)), // bytes count, not characters
            Map.of("", "v"),
            Map.of("k".repeat(65), "v"),
            Map.of("🧧".repeat(65), "v"),
            Map.of("k", 1),
            Map.of("k", Map.of()),
            Map.of("k", "a\0b"),
            Map.of("a\0b", "v"),
            Map.of(1, "v")
        }) {
            assertThatThrownBy(() -> Metadata.of(bad)).isInstanceOf(InvalidInputException.class);
        }
    }
}
