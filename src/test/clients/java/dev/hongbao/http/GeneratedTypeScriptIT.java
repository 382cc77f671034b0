package dev.hongbao.http;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A TypeScript client that was generated from the contract, as it comes, is compiled, and calls every call of a whole server from Node:
 * {@code scenario.ts}.
 */
@ExtendWith(Servers.class)
class GeneratedTypeScriptIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    @Test
    void everyCallIsMade() throws Exception {
        // Given the client, which the compiler finds nothing wrong with
        Node.run("tsc", "--project", ".");

        // When
        Path called = Files.createTempFile(Node.HOME, "called", ".txt");
        Map<String, String> environment = Map.of(
                "SERVER", base().toString(),
                "SECRET", Base64.getEncoder().encodeToString(secret()),
                "CALLED", called.toAbsolutePath().toString());
        Node.run(environment, "node", "--test", "compiled/scenario.js");

        // Then
        CalledCalls.assertEvery(Set.copyOf(Files.readAllLines(called)));
        Files.delete(called);
    }
}
