package dev.hongbao.store.embedded;

import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.store.embedded.EmbeddedServers.Urls;
import dev.hongbao.store.redis.RedisCommands;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * A Redis child process with an append-only file, on loopback, with passwords. Thread-safe; every method but the getters may
 * block.
 */
public final class EmbeddedRedis extends EmbeddedServer {
    /** A long append-only file takes about 1 s per 100 MB to read. A kill meanwhile makes Redis begin anew. */
    private static final Duration READY = Duration.ofMinutes(10);

    private static final String APP_SECRET = "redis-app";
    private static final String ADMIN_SECRET = "redis";

    public static final String USER = "hongbao";

    /**
     * The server's rights in Redis, the rules after {@code ACL SETUSER hongbao on >password}: the commands that the server and its
     * scripts call, and no others. A stolen password can take claims. It cannot read or change the configuration, load a module, or
     * empty the server at once. It can load scripts, since recovery loads each shard's own.
     */
    public static final String RULES =
            "~* resetchannels &hongbao:* -@all +hello +auth +ping +info +select +cluster|slots +"
                    + String.join(" +", RedisCommands.OF_LINE) + " +" + String.join(" +", RedisCommands.NEEDED);

    private EmbeddedRedis(DataDirectory data, boolean ownsData, int port, SupervisedChild child) {
        super(data, ownsData, port, child);
    }

    /**
     * Starts Redis; returns when it answers. A later start on the same directory has the same data and passwords, and the same
     * port if it is still free.
     *
     * @throws EmbeddedServers.InUseException if another server owns the directory
     * @throws EmbeddedStartException if it cannot be started; the message shows the end of its log
     */
    public static EmbeddedRedis start(Path dataDir, EmbeddedOptions options) {
        return owning(dataDir, data -> start(data, options, true));
    }

    /**
     * The {@link #urls} of the Redis that a server keeps running on this directory; empty if there is none. Starts and makes
     * nothing. The server may be gone a moment later.
     */
    public static Optional<Urls> running(Path dataDir) {
        return running(dataDir, "redis/port", EmbeddedRedis::urls);
    }

    static EmbeddedRedis start(DataDirectory data, EmbeddedOptions options, boolean ownsData) {
        Path binaries = options.binaries() == null ? data.bin() : options.binaries();
        Path program = new Binaries(binaries, Platform.current()).redis();
        Path directory = data.directory("redis");
        Path config = directory.resolve("redis.conf");
        String password = data.secret(ADMIN_SECRET);
        int port = freePort(DataDirectory.readNumber(directory.resolve("port")));
        DataDirectory.write(config, config(port, password, data.secret(APP_SECRET), options.redisSettings()));
        DataDirectory.write(directory.resolve("port"), Integer.toString(port));
        SupervisedChild child = SupervisedChild.start("redis", options.supervised(), () -> {
            ChildProcess.awaitNoneIn(directory);
            ChildProcess started = ChildProcess.start(
                    "redis",
                    directory,
                    data.log("redis"),
                    "TERM",
                    Path.of("/dev/null"),
                    List.of(program.toString(), config.toString()));
            started.awaitReady(() -> answers(port, password), READY);
            return started;
        });
        return new EmbeddedRedis(data, ownsData, port, child);
    }

    private static String config(int port, String password, String appPassword, Map<String, String> more) {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("bind", "127.0.0.1");
        settings.put("port", Integer.toString(port));
        settings.put("requirepass", password);
        settings.put("masterauth", password);
        settings.put("user", USER + " on >" + appPassword + " " + RULES);
        settings.put("dir", "."); // its working directory
        settings.put("appendonly", "yes");
        settings.put("appendfsync", "everysec");
        settings.put("save", "\"\"");
        settings.put("maxmemory-policy", "noeviction");
        settings.put("shutdown-timeout", "3"); // seconds it waits for replicas; we wait 9
        settings.putAll(more);
        return settings.entrySet().stream()
                .map(each -> each.getKey() + " " + each.getValue() + "\n")
                .collect(Collectors.joining());
    }

    /** False while Redis loads its data. The password shows that the process is ours. */
    private static boolean answers(int port, String password) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress("127.0.0.1", port), 1_000);
            socket.setSoTimeout(1_000);
            String commands = "AUTH " + password + "\r\nPING\r\nQUIT\r\n";
            socket.getOutputStream().write(commands.getBytes(StandardCharsets.US_ASCII));
            String answers = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return answers.equals("+OK\r\n+PONG\r\n+OK\r\n");
        } catch (IOException notYet) {
            return false;
        }
    }

    /** {@link #appUrl} and {@link #url}. They stay equal until {@link #close}, also across restarts. */
    public Urls urls() {
        return urls(data::secret, port);
    }

    private static Urls urls(UnaryOperator<String> secret, int port) {
        String at = "@127.0.0.1:" + port;
        return new Urls(
                "redis://" + USER + ":" + secret.apply(APP_SECRET) + at, "redis://:" + secret.apply(ADMIN_SECRET) + at);
    }

    /** For the server's user, with the server's rights: {@code redis://hongbao:password@127.0.0.1:port}. */
    public String appUrl() {
        return urls().app();
    }

    /** For the administrator: {@code redis://:password@127.0.0.1:port}. */
    public String url() {
        return urls().owner();
    }
}
