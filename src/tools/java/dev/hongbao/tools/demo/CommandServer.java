package dev.hongbao.tools.demo;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.Option;
import dev.hongbao.common.config.Options;
import dev.hongbao.engine.embedded.EmbeddedOptions;
import dev.hongbao.engine.embedded.EmbeddedServers;
import dev.hongbao.engine.embedded.ServerUrls;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server that a command starts, in a process of its own, on stores of this one: so that what its JVM learns, or what is in its jar,
 * is its own. Blocking; confined to one thread.
 */
public final class CommandServer implements AutoCloseable {
    private static final Pattern READY = Pattern.compile("ready https?://\\S+:(\\d+)$");

    /** A JVM that is told to keep what it learned writes that when it ends. */
    private static final long STOP_SECONDS = 180;

    private final EmbeddedServers stores;
    private final Process process;
    private final int port;

    private CommandServer(EmbeddedServers stores, Process process, int port) {
        this.stores = stores;
        this.process = process;
        this.port = port;
    }

    /**
     * Starts stores in a directory and the server on them; returns when it serves. It is told its options by its environment.
     *
     * @param command its words, with blanks between them
     * @param directory as of {@link HongbaoConfig#forTrial}; its token key is the server's, too
     * @throws IOException when the command is none, or its process ends before it serves
     */
    public static CommandServer start(String command, Path directory) throws IOException {
        EmbeddedServers stores = EmbeddedServers.start(directory, EmbeddedOptions.defaults());
        try {
            ServerUrls urls = stores.urls();
            ProcessBuilder builder =
                    new ProcessBuilder(List.of(command.split(" +", -1))).redirectError(ProcessBuilder.Redirect.INHERIT);
            builder.environment().keySet().removeIf(name -> name.startsWith(Option.ENVIRONMENT_PREFIX));
            Map<String, String> options = HongbaoConfig.trialOptions(
                    directory,
                    Map.of(
                            "redis.url", urls.redis(),
                            "postgres.url", urls.postgresApp(),
                            "postgres.owner-url", urls.postgresOwner()));
            Options.ALL.stream()
                    .filter(option -> options.containsKey(option.path()))
                    .forEach(option -> builder.environment().put(option.environmentName(), options.get(option.path())));
            Process process = builder.start();
            return new CommandServer(stores, process, portOf(process));
        } catch (IOException | RuntimeException fault) {
            stores.close();
            throw fault;
        }
    }

    private static int portOf(Process process) throws IOException {
        BufferedReader said =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = said.readLine(); line != null; line = said.readLine()) {
            Matcher ready = READY.matcher(line);
            if (ready.find()) {
                return Integer.parseInt(ready.group(1));
            }
        }
        throw new IOException("the server's process ended before it served");
    }

    /** Of its API. */
    public int port() {
        return port;
    }

    /** Stops the server, waits for the end of its process, and stops the stores. */
    @Override
    public void close() throws InterruptedException {
        try {
            process.destroy();
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } finally {
            stores.close();
        }
    }
}
