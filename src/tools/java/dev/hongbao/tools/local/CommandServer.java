package dev.hongbao.tools.local;

import dev.hongbao.config.Option;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server that a command starts, as an operator does. Thread-safe; blocking. */
public class CommandServer extends ChildProcess {
    private static final Pattern READY = Pattern.compile("ready (https?://\\S+:\\d+)\\R");
    private static final long LOOK_MILLIS = 20;

    private final Path out;

    /**
     * Starts the command; does not wait.
     *
     * @param out overwritten with its standard output
     */
    public CommandServer(ProcessBuilder builder, Path out) throws IOException {
        super(builder.redirectOutput(out.toFile()).start());
        this.out = out;
    }

    /** A builder whose environment has no options of this program. */
    public static ProcessBuilder builder(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith(Option.ENVIRONMENT_PREFIX));
        return builder;
    }

    /**
     * @return its URL, once it serves
     * @throws IOException if it ends before, or does not serve within the limit
     */
    public URI awaitReady(Duration limit) throws IOException, InterruptedException {
        long until = System.nanoTime() + limit.toNanos();
        while (true) {
            boolean isAlive = alive();
            Matcher ready = READY.matcher(output());
            if (ready.find()) {
                return URI.create(ready.group(1));
            }
            if (!isAlive || System.nanoTime() - until > 0) {
                throw new IOException("it does not serve: " + output());
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
    }

    /** Its standard output so far. */
    public String output() {
        return read(out);
    }

    protected static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    @Override
    public void close() {
        stop();
    }
}
