package dev.hongbao.bench;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.server.HongbaoServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A server in a process of its own, so that its heap is its own too. It ends when its standard input does, so also with the
 * process that started it. Blocking, for one thread.
 */
final class SocketServer implements AutoCloseable {
    private static final String MAX_HEAP = "-Xmx512m";
    private static final String PORT = "bench-port ";
    private static final String HEAP = "bench-heap ";
    private static final long STOP_SECONDS = 15;

    private final HongbaoConfig config;
    private final Process process;
    private final BufferedReader said;
    private final int port;

    private SocketServer(HongbaoConfig config, Process process) throws IOException {
        this.config = config;
        this.process = process;
        this.said = reader(process.getInputStream());
        this.port = (int) number(PORT);
    }

    /** Starts this program again, with its stores in a directory. */
    static SocketServer start(Path directory) throws IOException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                MAX_HEAP,
                "-cp",
                System.getProperty("java.class.path"),
                "dev.hongbao.Main",
                "bench",
                "socket-server",
                directory.toString());
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            return new SocketServer(config(directory), process);
        } catch (IOException | RuntimeException fault) {
            process.destroy();
            throw fault;
        }
    }

    /** The load comes from few addresses and at once, which a real one does not. */
    private static HongbaoConfig config(Path directory) {
        return HongbaoConfig.of(Map.of(
                "data.dir", directory.toString(),
                "http.port", "0",
                "management.port", "0",
                "http.max-connections", "1000000",
                "limits.requests-per-second", "0",
                "socket.max-per-address", "1000000"));
    }

    /** The process itself: serves, and answers each line with its heap, until there are no more. */
    static void serve(Path directory, InputStream in, PrintStream out) throws Exception {
        try (HongbaoServer server = HongbaoServer.start(config(directory))) {
            out.println(PORT + server.port());
            BufferedReader asked = reader(in);
            while (asked.readLine() != null) {
                out.println(HEAP + usedHeapBytes());
            }
        }
    }

    /** Twice, since what the first collection finds may release more. */
    private static long usedHeapBytes() throws InterruptedException {
        System.gc();
        TimeUnit.MILLISECONDS.sleep(200);
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    HongbaoConfig config() {
        return config;
    }

    int port() {
        return port;
    }

    /** Bytes of heap that are in use after a full collection. */
    long heapBytes() throws IOException {
        OutputStream ask = process.getOutputStream();
        ask.write('\n');
        ask.flush();
        return number(HEAP);
    }

    private long number(String prefix) throws IOException {
        for (String line = said.readLine(); line != null; line = said.readLine()) {
            if (line.startsWith(prefix)) {
                return Long.parseLong(line.substring(prefix.length()));
            }
        }
        throw new IOException("the server's process ended");
    }

    private static BufferedReader reader(InputStream stream) {
        return new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws Exception {
        process.getOutputStream().close();
        if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
    }
}
