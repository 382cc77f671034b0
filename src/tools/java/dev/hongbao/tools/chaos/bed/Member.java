package dev.hongbao.tools.chaos.bed;

import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.tools.local.LossyProxy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One server, with a proxy in front of it and one in front of each of its stores. Blocking; one fault at a time. */
public final class Member implements AutoCloseable {
    private static final Map<String, String> OPTIONS = Map.of(
            "shards", Integer.toString(ChaosBed.SHARDS),
            "webhooks.private-networks", "127.0.0.0/8",
            "webhooks.max-wait", "2s");

    /** Servers start often, on few cores: the first compiler alone is ready sooner. Without memory they end, as in production. */
    private static final List<String> FLAGS =
            List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError");

    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(90);
    private static final long PAUSE_MILLIS = 200;

    public final int number;
    private final Path directory;
    private final Map<String, String> options = new HashMap<>(OPTIONS);

    /** From its clients to it. */
    public final LossyProxy clients = new LossyProxy("127.0.0.1", 1); // until start() there is no server

    /** From it to Redis; null for a cluster. */
    public final @Nullable LossyProxy redis;

    public final LossyProxy postgres;

    /** For migrations at a start; without faults. */
    private final LossyProxy owner;

    private volatile @Nullable ChildServer server;

    /** Only the proxies. */
    Member(int number, Path directory, RedisSide redisSide, PostgresSide postgresSide) throws IOException {
        this.number = number;
        this.directory = directory;
        this.postgres = proxied("postgres.url", postgresSide.appUrl(), postgresSide.port());
        this.owner = proxied("postgres.owner-url", postgresSide.ownerUrl(), postgresSide.port());
        if (redisSide.form() == RedisSide.Form.CLUSTER) {
            this.redis = null;
            options.put("redis.url", redisSide.url());
        } else {
            this.redis = proxied("redis.url", redisSide.url(), redisSide.port());
        }
    }

    private LossyProxy proxied(String option, String url, int port) throws IOException {
        LossyProxy proxy = new LossyProxy("127.0.0.1", port);
        options.put(option, url.replace("@127.0.0.1:" + port, "@127.0.0.1:" + proxy.port()));
        return proxy;
    }

    /** Starts it; tries again while a store is away. @throws IOException after 90 s */
    public void start() throws IOException, InterruptedException {
        Path log = directory.resolve("server-" + number + ".log");
        long begun = System.nanoTime();
        while (true) {
            try {
                ChildServer started = ChildServer.start(
                        directory.resolve("data"), FLAGS, options, ProcessBuilder.Redirect.appendTo(log.toFile()));
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

    /** Its process, until the next start. */
    public ChildServer server() {
        return Objects.requireNonNull(server);
    }

    void leadToPostgres(int port) {
        postgres.leadOnlyTo(port);
        owner.leadOnlyTo(port);
    }

    @Override
    public void close() throws IOException {
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
