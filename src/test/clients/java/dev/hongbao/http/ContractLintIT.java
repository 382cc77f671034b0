package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    @ParameterizedTest
    @CsvSource({
        "openapi.yaml, '        default:\n          $ref: ''#/components/responses/Problem''\n', redocly",
        "openapi.yaml, tags: [me], spectral",
        "asyncapi.yaml, 'action: receive', asyncapi"
    })
    void aFaultIsFound(String document, String part, String finder) throws Exception {
        String text = Files.readString(Node.HOME.resolve(document));
        int begin = text.indexOf(part);
        Files.writeString(
                Node.HOME.resolve("faulty.yaml"), text.substring(0, begin) + text.substring(begin + part.length()));

        assertThatCode(() -> Node.run(
                        switch (finder) {
                            case "redocly" -> with(REDOCLY, "faulty.yaml");
                            case "spectral" -> with(SPECTRAL, "faulty.yaml");
                            default -> new String[] {"node", "asyncapi.mjs", "faulty.yaml"};
                        }))
                .isInstanceOf(AssertionError.class);
    }

    private static String[] with(String[] command, String... documents) {
        String[] all = new String[command.length + documents.length];
        System.arraycopy(command, 0, all, 0, command.length);
        System.arraycopy(documents, 0, all, command.length, documents.length);
        return all;
    }
}
