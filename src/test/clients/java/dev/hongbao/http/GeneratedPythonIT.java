package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract.Operation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A Python client that was generated from the contract, as it comes, has every call. Its packages are not installed, so it is not run. */
class GeneratedPythonIT {
    @Test
    void everyCallIsAMethodAndNoNameIsChanged() throws IOException {
        StringBuilder text = new StringBuilder();
        try (Stream<Path> files = Files.walk(Node.HOME.resolve("python/openapi_client"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".py")).toList()) {
                text.append(Files.readString(file));
            }
        }

        List<String> methods = Contract.load().operations().stream()
                .map(Operation::id)
                .map(id -> "    def " + id.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT) + "(")
                .toList();
        assertThat(text).contains(methods).doesNotContain("var_class", "var_final");
    }
}
