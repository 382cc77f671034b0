package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a receiver's headers and the authority's file mean. */
class ReceiverTest {
    private static final Instant NOW = Instant.parse("2026-11-22T12:00:00.5Z");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 | PT0S",
                "120 | PT2M",
                "007 | PT7S",
                "9999999999 | PT9999999999S",
                "Sun, 22 Nov 2026 13:00:00 GMT | PT59M59.5S",
                "Sun, 22 Nov 2026 11:00:00 GMT | PT0S",
                "Fri, 31 Dec 9999 23:59:59 GMT | PT69890819H59M58.5S"
            })
    void secondsAndDatesAreUnderstood(String header, Duration wait) {
        assertThat(Receiver.retryAfter(header, NOW)).isEqualTo(wait);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "soon",
                "-1",
                "1.5",
                "1e9",
                "10000000000",
                "99999999999999999999",
                "Mon, 22 Nov 2026 13:00:00 GMT"
            })
    void whatIsNeitherIsNoWish(String header) {
        assertThat(Receiver.retryAfter(header, NOW)).isZero();
    }

    @Test
    void onlyTwoAnswersGiveItThisMeaning() {
        assertThat(Receiver.mayWait(429)).isTrue();
        assertThat(Receiver.mayWait(503)).isTrue();
        assertThat(Receiver.mayWait(500)).isFalse();
        assertThat(Receiver.mayWait(200)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "no certificate",
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
            })
    void aFileWithoutACertificateIsRefusedByTheOptionsName(String content, @TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("authority.pem"), content);
        assertThatThrownBy(() -> Receiver.issuers(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("webhooks.tls-authority");
    }
}
