package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AuthoritiesTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "no certificate",
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
            })
    void aFileWithoutACertificateIsRefusedByTheOptionsName(String content) throws IOException {
        Path file = Files.writeString(directory.resolve("authority.pem"), content);

        assertThatThrownBy(() -> Receiver.issuers(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("webhooks.tls-authority");
    }
}
