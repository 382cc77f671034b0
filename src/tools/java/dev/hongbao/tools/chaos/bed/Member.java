package dev.hongbao.tools.chaos.bed;

import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.tools.local.Debugger;
import dev.hongbao.tools.local.LossyProxy;
import dev.hongbao.tools.local.Signals;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One server, with a line to each of its stores and one from its clients. Blocking; one fault at a time. */
public final class Member implements AutoCloseable {
    /** Several servers start again and again on few cores: the first compiler alone is done in seconds. Without memory they end, as in production. */
    private static final List<String> FLAGS =
            List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError");

    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(90);
    private static final long PAUSE_MILLIS = 200;

    /** Nobody listens there. */
    private static final int NOWHERE = 1;

    private final int number;
    private final Path directory;
    private final Map<String, String> options;
    private final LossyProxy clients;
    private final @Nullable LossyProxy redis;
    private final LossyProxy postgres;

    /** For migrations, as it starts: nothing is done to it. */
    private final LossyProxy owner;

    private volatile @Nullable ChildServer server;
    private volatile @Nullable Debugger debugger;

    /**
     * Its lines, without a server.
     *
     * @param own its options of the cluster
     */
    Member(int number, Path directory, RedisSide redisSide, PostgresSide postgresSide, Map<String, String> own)
            throws IOException {
        this.number = number;
        this.directory = directory;
        this.clients = new LossyProxy("127.0.0.1", NOWHERE);
        this.postgres = new LossyProxy("127.0.0.1", postgresSide.port());
        this.owner = new LossyProxy("127.0.0.1", postgresSide.port());
        this.options = new HashMap<>(own);
        options.put("postgres.url", through(postgres, postgresSide.appUrl(), postgresSide.port()));
        options.put("postgres.owner-url", through(owner, postgresSide.ownerUrl(), postgresSide.port()));
        if (redisSide.form() == RedisSide.Form.CLUSTER) {
            this.redis = null;
            options.put("redis.url", redisSide.url());
        } else {
            this.redis = new LossyProxy("127.0.0.1", redisSide.port());
            options.put("redis.url", through(redis, redisSide.url(), redisSide.port()));
        }
    }

    private static String through(LossyProxy line, String url, int port) {
        return url.replace("@127.0.0.1:" + port, "@127.0.0.1:" + line.port());
    }

    /** Starts it, and again when a store that is mended meanwhile does not let it. @throws IOException after 90 s */
    public void start() throws IOException, InterruptedException {
        long begun = System.nanoTime();
        while (true) {
            try {
                ChildServer started = start(flags());
                server = started;
                clients.leadTo(started.port());
                return;
            } catch (IOException notYet) {
                if (System.nanoTime() - begun > START_NANOS) {
                    throw notYet;
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
        }
    }

    private ChildServer start(List<String> flags) throws IOException {
        return ChildServer.start(
                directory.resolve("data"),
                flags,
                options,
                ProcessBuilder.Redirect.appendTo(
                        directory.resolve("server-" + number + ".log").toFile()));
    }

    /** Starts it, and stops it: it leaves an archive of its classes, with which every server is up in half of the time from then on. */
    void archiveClasses() throws IOException, InterruptedException {
        ChildServer once = start(List.of("-Xmx256m", "-XX:ArchiveClassesAtExit=" + archive()));
        once.terminate();
    }

    private Path archive() {
        return directory.resolve("classes.jsa");
    }

    private List<String> flags() throws IOException {
        closeDebugger();
        List<String> flags = new ArrayList<>(FLAGS);
        if (Files.exists(archive())) {
            flags.add("-XX:SharedArchiveFile=" + archive());
        }
        if (Debugger.isThere()) {
            Debugger fresh = Debugger.listen();
            debugger = fresh;
            flags.add(fresh.flag());
        }
        return flags;
    }

    private void closeDebugger() {
        Debugger last = debugger;
        if (last != null) {
            last.close();
        }
    }

    private ChildServer server() {
        ChildServer now = server;
        if (now == null) {
            throw new IllegalStateException("server " + number + " was not started");
        }
        return now;
    }

    public int number() {
        return number;
    }

    /** Where clients reach it, also after it was started again. */
    int port() {
        return clients.port();
    }

    /** Whether its process runs; it may be frozen. */
    public boolean isAlive() {
        return server().alive();
    }

    /** SIGKILL. */
    public void kill() throws InterruptedException {
        server().kill();
    }

    /** SIGTERM; returns when it has stopped. */
    public void terminate() throws InterruptedException {
        server().terminate();
    }

    /** SIGTERM; returns at once. */
    public void askToStop() {
        Signals.terminate(server().pid());
    }

    /** Of its process, until it is started again; only where there are debuggers. */
    public Debugger debugger() {
        return Objects.requireNonNull(debugger);
    }

    /** Its process runs out of memory, and ends. */
    public void exhaustHeap() throws IOException, InterruptedException {
        server().exhaustHeap();
    }

    /** Its wall clock is so much ahead, or behind; 0 for right. */
    public void stepClock(long millis) throws IOException {
        server().stepClock(millis);
    }

    public void freeze() {
        Signals.freeze(server().pid());
    }

    public void thaw() {
        Signals.thaw(server().pid());
    }

    /** From its clients to it. */
    public LossyProxy clients() {
        return clients;
    }

    /** From it to Redis; null when that is a cluster. */
    public @Nullable LossyProxy redis() {
        return redis;
    }

    /** From it to Postgres. */
    public LossyProxy postgres() {
        return postgres;
    }

    /** From now on it finds Postgres at this port; its connections break. */
    void leadToPostgres(int port) {
        for (LossyProxy line : List.of(postgres, owner)) {
            line.leadTo(port);
            line.breakConnections();
        }
    }

    @Override
    public void close() throws Exception {
        closeDebugger();
        ChildServer last = server;
        if (last != null) {
            last.close();
        }
        clients.close();
        postgres.close();
        owner.close();
        if (redis != null) {
            redis.close();
        }
    }
}
