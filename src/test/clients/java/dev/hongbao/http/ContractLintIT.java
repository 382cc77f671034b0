package dev.hongbao.http;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What others look for in contracts, in the documents as they are served. What is not asked for is said in the rulesets. */
class ContractLintIT {
    private static final String[] REDOCLY = {"redocly", "lint", "--config", "redocly.yaml"};
    private static final String[] SPECTRAL = {
        "spectral", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "warn"
    };

    @BeforeAll
    static void asTheyAreServed() throws Exception {
        Files.writeString(
                Node.HOME.resolve("openapi.yaml"), Files.readString(Path.of("src/main/resources/openapi.yaml")));
        Files.writeString(
                Node.HOME.resolve("asyncapi.yaml"), Files.readString(Path.of("target/classes/asyncapi.yaml")));
    }

    @Test
    void redoclyFindsNothing() {
        Node.run(with(REDOCLY, "openapi.yaml", "asyncapi.yaml"));
    }

    @Test
    void spectralFindsNothing() {
        Node.run(with(SPECTRAL, "openapi.yaml", "asyncapi.yaml"));
    }

    @Test
    void asyncApisOwnParserFindsNothing() {
        Node.run("node", "asyncapi.mjs", "asyncapi.yaml");
    }

    private static String[] with(String[] command, String... documents) {
        String[] all = new String[command.length + documents.length];
        System.arraycopy(command, 0, all, 0, command.length);
        System.arraycopy(documents, 0, all, command.length, documents.length);
        return all;
    }
}
