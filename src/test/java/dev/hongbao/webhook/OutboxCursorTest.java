package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutboxCursorTest {
    private static final UUID ERA = UUID.fromString("6d1f0c1e-3b0a-4d57-9d2e-5a6b7c8d9e0f");

    @Test
    void whatIsWrittenIsRead() {
        for (long seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            OutboxCursor cursor = OutboxCursor.at(ERA, 2 + random.nextInt(256), random.nextLong(1L << 40));
            for (int moves = random.nextInt(20); moves > 0; moves--) {
                cursor = cursor.to(random.nextInt(cursor.streams()), random.nextLong(1L << 50));
            }
            cursor = cursor.with(random.nextInt(cursor.streams()), random.nextInt(Integer.MAX_VALUE));
            assertThat(OutboxCursor.parse(cursor.text())).as("seed %s", seed).isEqualTo(cursor);
        }
    }

    @Test
    void theLongestCursorIsShortEnoughForAnUrl() {
        OutboxCursor cursor = OutboxCursor.at(ERA, 257, 0);
        for (int stream = 1; stream < 257; stream++) {
            cursor = cursor.to(stream, 1L << 40);
        }

        assertThat(cursor.text()).hasSizeLessThan(2_100).matches("[A-Za-z0-9_-]+");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "AA", "latest", "AQ", "////", "AX__________________________________________________8"})
    void whatIsNoCursorIsNone(String text) {
        assertThat(OutboxCursor.parse(text)).isNull();
    }

    @Test
    void aCursorThatIsCutOrLengthenedIsNone() {
        String text = OutboxCursor.at(ERA, 17, 1_000_000)
                .to(3, 1_000_500)
                .with(3, 200)
                .text();

        for (int length = 0; length < text.length(); length++) {
            assertThat(OutboxCursor.parse(text.substring(0, length)))
                    .as("%s characters", length)
                    .isNull();
        }
        assertThat(OutboxCursor.parse(text + "AAAA")).isNull();
    }
}
