package dev.hongbao.testing;

import dev.hongbao.tools.local.CommandServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A jar in a process of its own, as an operator runs it: the fat one unless said otherwise. */
public final class ServerProcess extends CommandServer {
    /** What lives for seconds is not worth the second compiler. */
    private static final List<String> SHORT_LIVED = List.of(
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-XX:SharedArchiveFile=target/hongbao.jsa",
            "-Xlog:cds=off", // without words about an archive of another build, or for another jar
            "-Xlog:cds+dynamic=off");

    public static final Path JAR = Path.of(System.getProperty("hongbao.jar", "target/hongbao.jar"));

    /** The jar without stores and tools. */
    public static final Path SERVER_JAR = JAR.resolveSibling("hongbao-server.jar");

    private static final Pattern METRICS = Pattern.compile("http://127\\.0\\.0\\.1:\\d+/metrics");

    private static final Duration START = Duration.ofSeconds(120);

    private final Path dataDir;
    private final Path err;

    private ServerProcess(ProcessBuilder builder, Path dataDir, Path out, Path err) throws IOException {
        super(builder.redirectError(err.toFile()), out);
        this.dataDir = dataDir;
        this.err = err;
    }

    /** Starts {@code serve} on free ports; does not wait. */
    public static ServerProcess start(Path dataDir, String... flags) {
        return start(dataDir, Map.of(), flags);
    }

    /** As above, with more in its environment. */
    public static ServerProcess start(Path dataDir, Map<String, String> environment, String... flags) {
        return start(List.of(), JAR, dataDir, environment, flags);
    }

    /** The flags that name the stores. */
    public static String[] storeFlags(TestServers stores) {
        return new String[] {
            "--redis-url", stores.redisUrl(),
            "--postgres-url", stores.postgresAppUrl(),
            "--postgres-owner-url", stores.postgresOwnerUrl()
        };
    }

    /** As above, a jar in a process that may not open more files. */
    public static ServerProcess startWithFiles(int most, Path jar, Path dataDir, String... flags) {
        List<String> shell = List.of("sh", "-c", "ulimit -n \"$0\" && exec \"$@\"", Integer.toString(most));
        return start(shell, jar, dataDir, Map.of(), flags);
    }

    private static ServerProcess start(
            List<String> shell, Path jar, Path dataDir, Map<String, String> environment, String... flags) {
        try {
            Files.createDirectories(dataDir);
            Path out = Files.createTempFile(dataDir, "out", ".log");
            Path err = Files.createTempFile(dataDir, "err", ".log");
            List<String> command = new ArrayList<>(List.of("--data-dir", dataDir.toString(), "--port", "0"));
            command.addAll(List.of(flags));
            ProcessBuilder builder = java(jar, command);
            builder.command().addAll(0, shell);
            builder.environment().putAll(environment);
            return new ServerProcess(builder, dataDir, out, err);
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    private static ProcessBuilder java(Path jar, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(SHORT_LIVED);
        command.addAll(List.of("-jar", jar.toString()));
        command.addAll(arguments);
        return builder(command);
    }

    /** What a command printed, and its exit code. */
    public record Result(int exit, String output) {}

    /** Runs a command of the jar to its end. */
    public static Result run(String... arguments) {
        return run(JAR, arguments);
    }

    /** As above, a command of the jar without stores. */
    public static Result runServerJar(String... arguments) {
        return run(SERVER_JAR, arguments);
    }

    private static Result run(Path jar, String... arguments) {
        try {
            Process process =
                    java(jar, List.of(arguments)).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes());
            return new Result(process.waitFor(), output);
        } catch (IOException | InterruptedException fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** Waits for the line that says where it serves. */
    public URI awaitReady() {
        try {
            return awaitReady(START);
        } catch (IOException | InterruptedException fault) {
            throw new AssertionError(fault.getMessage() + errors(), fault);
        }
    }

    /** What it counts, as an operator sees it; once it is ready. */
    public String metrics() throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(management()).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    /** Where its metrics are; once it is ready. */
    public URI management() {
        Matcher metrics = METRICS.matcher(output());
        if (!metrics.find()) {
            throw new IllegalStateException("it does not say where its metrics are: " + output());
        }
        return URI.create(metrics.group());
    }

    public String errors() {
        return read(err);
    }

    public Path dataDir() {
        return dataDir;
    }

    /** Waits for the end. */
    public int exitCode(Duration limit) {
        try {
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError("still running after " + limit + ": " + errors());
            }
            return process.exitValue();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
