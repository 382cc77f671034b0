package dev.hongbao.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The contract against a server that runs already: {@code -Dhongbao.test.url=http://127.0.0.1:8080
 * -Dhongbao.test.key=data/token.key}, with default limits.
 */
@EnabledIfSystemProperty(named = "hongbao.test.url", matches = "http.*")
class HttpApiIT extends HttpApiContract {
    @Override
    URI base() {
        return URI.create(System.getProperty("hongbao.test.url"));
    }

    @Override
    byte[] secret() {
        try {
            return Files.readAllBytes(Path.of(System.getProperty("hongbao.test.key")));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
