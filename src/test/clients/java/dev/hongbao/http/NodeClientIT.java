package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.TestKeys;
import dev.hongbao.access.TokenSigner;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.tools.local.LossyProxy;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code hongbao-client.js} as an application in Node has it, packed and installed by npm, and the guide's receiver. */
class NodeClientIT {
    private static final Path APPLICATION = Path.of("target", "node", "app");
    private static final String GROUP = "family";

    @TempDir
    private Path directory;

    @BeforeAll
    static void install() throws IOException {
        Files.createDirectories(APPLICATION);
        Files.writeString(APPLICATION.resolve("package.json"), "{\"private\": true, \"type\": \"module\"}");
        Path webroot = Path.of("src/main/resources/webroot").toAbsolutePath();
        String packed = Node.run("npm", "pack", "--silent", webroot.toString());
        String archive = packed.strip().lines().reduce((first, last) -> last).orElseThrow();
        Node.run(
                APPLICATION,
                Map.of(),
                "npm",
                "install",
                "--offline",
                "--no-audit",
                "--no-fund",
                "--no-package-lock",
                "../" + archive);
        for (String program : List.of("attack.mjs", "client.test.mjs", "receiver.test.mjs")) {
            Files.writeString(APPLICATION.resolve(program), Files.readString(Node.HOME.resolve(program)));
        }
    }

    @Test
    void itKeepsItsPromisesWhateverAServerDoes() {
        Node.run(APPLICATION, Map.of(), "node", "--test", "--test-timeout=20000", "client.test.mjs");
    }

    @Test
    void theReceiverOfTheGuideCostsNobodyAPoint() {
        Map<String, String> guide = Map.of(
                "GUIDE", Path.of("src/site/markdown/events.md").toAbsolutePath().toString());
        Node.run(APPLICATION, guide, "node", "--test", "receiver.test.mjs");
    }

    @Test
    @Tag("long")
    void aServerThatDiesInTheMiddleLosesNothingAndDoesNothingTwice() throws Exception {
        // Given a client behind a line to a server
        LossyProxy line;
        Process node;
        try (ServerProcess server = ServerProcess.start(directory)) {
            URI base = server.awaitReady();
            line = new LossyProxy(base.getHost(), base.getPort());
            deposit(base);
            node = Node.builder(
                            APPLICATION,
                            Map.of(
                                    "URL",
                                    "ws://127.0.0.1:" + line.port() + "/v1/socket",
                                    "TOKEN",
                                    token("alice", Role.USER),
                                    "GROUP",
                                    GROUP),
                            "node",
                            "attack.mjs")
                    .redirectErrorStream(true)
                    .start();
            await(node.inputReader(), "asked");

            // When the server is killed
            server.kill();
        }

        // And starts again, elsewhere
        try (ServerProcess server = ServerProcess.start(directory);
                line) {
            line.leadTo(server.awaitReady().getPort());
            node.outputWriter().append("back\n").flush();

            // Then the program, which says what there is to see, comes to its end
            await(node.inputReader(), "done");
            assertThat(node.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(node.exitValue()).isZero();
        } finally {
            node.destroyForcibly();
        }
    }

    /** Reads until the program says the word; fails with all that it said when it ends without. */
    private static void await(BufferedReader said, String word) throws IOException {
        StringBuilder all = new StringBuilder();
        for (String text = said.readLine(); !word.equals(text); text = said.readLine()) {
            assertThat(text).as("%s", all).isNotNull();
            all.append(text).append('\n');
        }
    }

    private String token(String user, Role role) throws IOException {
        return new TokenSigner(TestKeys.ofFile(directory.resolve("token.key")), null, null, Clock.systemUTC())
                .sign(new UserId(user), List.of(new GroupId(GROUP)), role, Duration.ofHours(1));
    }

    private void deposit(URI base) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(base.resolve("/v1/accounts/alice/deposits"))
                .header("Authorization", "Bearer " + token("shop", Role.SERVICE))
                .header("Idempotency-Key", "once")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"asset\":\"CNY\",\"amount\":10000}"))
                .build();
        assertThat(HttpClient.newHttpClient()
                        .send(request, BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(201);
    }
}
