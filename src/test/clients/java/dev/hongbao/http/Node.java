package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Programs of Node, in the directory into which the build has put them and what they need. */
final class Node {
    /** Where {@code src/test/clients/node} is copied to, with its packages and the generated client. */
    static final Path HOME = Path.of("target", "node");

    private static final Duration LIMIT = Duration.ofMinutes(2);

    private Node() {}

    /** Runs a program to its end, which has to be a good one; what it printed. */
    static String run(String... command) {
        return run(Map.of(), command);
    }

    /** As above, with more in its environment. */
    static String run(Map<String, String> environment, String... command) {
        return run(HOME, environment, command);
    }

    /** As above, in a directory of its own. */
    static String run(Path directory, Map<String, String> environment, String... command) {
        try {
            Path output = Files.createTempFile(HOME, "output", ".log");
            Process process = builder(directory, environment, command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            boolean ended = process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
            process.destroyForcibly();
            String text = Files.readString(output);
            Files.delete(output);
            assertThat(ended && process.exitValue() == 0)
                    .as("%s%n%s", String.join(" ", command), text)
                    .isTrue();
            return text;
        } catch (IOException | InterruptedException fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** A program that is not started yet. A tool of an installed package is found by its name. */
    static ProcessBuilder builder(Path directory, Map<String, String> environment, String... command) {
        List<String> words = new ArrayList<>(Arrays.asList(command));
        Path tool = HOME.resolve("node_modules/.bin").resolve(words.get(0)).toAbsolutePath();
        if (Files.exists(tool)) {
            words.set(0, tool.toString());
        }
        ProcessBuilder builder = new ProcessBuilder(words).directory(directory.toFile());
        builder.environment().putAll(environment);
        return builder;
    }
}
