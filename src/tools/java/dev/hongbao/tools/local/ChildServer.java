package dev.hongbao.tools.local;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.server.HongbaoServer;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * This program as a server in a process of its own, for benchmarks and chaos. It ends with its standard input, and so with the process that
 * started it. Thread-safe; blocking.
 */
public final class ChildServer extends ChildProcess {
    private static final String PORTS = "bench-ports ";
    private static final String HEAP = "bench-heap ";
    private static final String COLLECT = "collect";
    private static final String CLOCK = "clock ";
    private static final String FILL = "fill";
    private static final long STOP_SECONDS = 15;

    private final HongbaoConfig config;
    private final BufferedReader said;
    private final int port;
    private final int managementPort;

    private ChildServer(HongbaoConfig config, Process process) throws IOException {
        super(process);
        this.config = config;
        this.said = reader(process.getInputStream());
        long[] ports = numbers(PORTS);
        this.port = (int) ports[0];
        this.managementPort = (int) ports[1];
    }

    /**
     * Starts this program again.
     *
     * @param options see {@link HongbaoConfig#forTrial}
     * @param log its standard error
     */
    public static ChildServer start(
            Path directory, List<String> flags, Map<String, String> options, ProcessBuilder.Redirect log)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.addAll(program());
        command.addAll(List.of("bench", "child-server", directory.toString()));
        Process process = new ProcessBuilder(command).redirectError(log).start();
        try {
            // Not on the command line, which every user of this machine can read: a store's URL has its password.
            StringBuilder lines = new StringBuilder();
            options.forEach((name, value) ->
                    lines.append(name).append('=').append(value).append('\n'));
            write(process, lines.toString());
            return new ChildServer(HongbaoConfig.forTrial(directory, options), process);
        } catch (IOException | RuntimeException fault) {
            process.destroy();
            throw fault;
        }
    }

    /** The jar, with the archive of classes that the build leaves beside it; else the classes that run here. */
    private static List<String> program() {
        String classPath = System.getProperty("java.class.path");
        return classPath.endsWith(".jar") && !classPath.contains(File.pathSeparator)
                ? List.of("-XX:SharedArchiveFile=" + classPath.replaceFirst("jar$", "jsa"), "-jar", classPath)
                : List.of("-cp", classPath, "dev.hongbao.Main");
    }

    /**
     * The child process: reads options up to an empty line, then serves. It obeys each further line and answers with its heap, until the
     * input ends.
     */
    public static void serve(Path directory, InputStream in, PrintStream out) throws Exception {
        BufferedReader asked = reader(in);
        Map<String, String> options = new HashMap<>();
        for (String line = asked.readLine(); line != null && !line.isEmpty(); line = asked.readLine()) {
            int equals = line.indexOf('=');
            options.put(line.substring(0, equals), line.substring(equals + 1));
        }
        AtomicLong aheadMillis = new AtomicLong();
        InstantSource stepped = () -> Instant.now().plusMillis(aheadMillis.get());
        Clock clock = stepped.withZone(ZoneOffset.UTC);
        try (HongbaoServer server = HongbaoServer.start(HongbaoConfig.forTrial(directory, options), clock)) {
            Runtime.getRuntime().addShutdownHook(new Thread(server::close, "child-server-stop"));
            out.println(PORTS + server.port() + " " + server.managementPort());
            for (String line = asked.readLine(); line != null; line = asked.readLine()) {
                if (line.equals(COLLECT)) {
                    System.gc();
                    TimeUnit.MILLISECONDS.sleep(200);
                    System.gc(); // what the first collection found may release more
                } else if (line.startsWith(CLOCK)) {
                    aheadMillis.set(Long.parseLong(line.substring(CLOCK.length())));
                } else if (line.equals(FILL)) {
                    fill();
                }
                out.println(HEAP
                        + ManagementFactory.getMemoryMXBean()
                                .getHeapMemoryUsage()
                                .getUsed());
            }
        }
    }

    private static void fill() {
        List<byte[]> taken = new ArrayList<>();
        while (true) {
            taken.add(new byte[1 << 20]);
        }
    }

    public HongbaoConfig config() {
        return config;
    }

    public int port() {
        return port;
    }

    public int managementPort() {
        return managementPort;
    }

    /** Sets its wall clock ahead of this machine's clock, or behind it. */
    public void stepClock(long millis) throws IOException {
        ask(CLOCK + millis);
    }

    /**
     * Takes all of its heap. With the flag {@code -XX:+ExitOnOutOfMemoryError} it ends; returns at its end.
     *
     * @throws IOException if it goes on
     */
    public void exhaustHeap() throws IOException {
        write(process, FILL);
        if (!awaitEnd(STOP_SECONDS)) {
            throw new IOException("it goes on without memory");
        }
    }

    /** Bytes of heap in use after a full collection. */
    public long heapBytes() throws IOException {
        return ask(COLLECT);
    }

    private static void write(Process process, String what) throws IOException {
        OutputStream asking = process.getOutputStream();
        asking.write((what + "\n").getBytes(StandardCharsets.UTF_8));
        asking.flush();
    }

    private synchronized long ask(String what) throws IOException {
        write(process, what);
        return numbers(HEAP)[0];
    }

    private long[] numbers(String prefix) throws IOException {
        for (String line = said.readLine(); line != null; line = said.readLine()) {
            if (line.startsWith(prefix)) {
                return Arrays.stream(line.substring(prefix.length()).split(" ", -1))
                        .mapToLong(Long::parseLong)
                        .toArray();
            }
        }
        throw new IOException("the server's process ended");
    }

    private static BufferedReader reader(InputStream stream) {
        return new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        if (!awaitEnd(STOP_SECONDS)) {
            kill();
        }
    }
}
