package dev.hongbao.store.embedded;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A JVM with {@link OwnerMain} on a data directory. */
final class OtherJvm implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    OtherJvm(Path dataDir, Path binaries) throws IOException {
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        OwnerMain.class.getName(),
                        dataDir.toString(),
                        binaries.toString(),
                        "other")
                .redirectErrorStream(true)
                .start();
        output = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Its first line that is not a log line: the pids, or an exception. */
    String output() throws IOException {
        String line = output.readLine();
        while (line != null && !line.matches("\\d+ \\d+|.*Exception.*")) {
            line = output.readLine();
        }
        return String.valueOf(line);
    }

    void kill() {
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        kill();
    }
}
