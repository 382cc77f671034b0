package dev.hongbao.page;

import dev.hongbao.access.TestKeys;
import dev.hongbao.access.TokenSigner;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.server.HongbaoServer;
import dev.hongbao.tools.local.Directories;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A server, of all page tests of this JVM with the same options. It ends with the JVM, or when {@link KeptPages} ends it. So no
 * class counts on what another class may change.
 */
final class Home {
    private static final Map<Map<String, String>, Home> OPEN = new ConcurrentHashMap<>();

    /** It idles most of the time, several at once: with few shards, and looking seldom for what is due. */
    private static final Map<String, String> AT_EASE = Map.of("shards", "4", "journal.poll-interval", "250ms");

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Home::closeAll));
    }

    private final Path data;
    private final Map<String, String> options;
    private @Nullable HongbaoServer server;

    private final HttpClient http = HttpClient.newHttpClient();

    final URI base;
    final TokenSigner signer;

    private Home(Map<String, String> options) {
        this.options = options;
        try {
            data = Files.createTempDirectory("hongbao-home");
            startServer(0);
            base = URI.create("http://127.0.0.1:" + running().port());
            signer = new TokenSigner(TestKeys.ofFile(data.resolve("token.key")), null, null, Clock.systemUTC());
        } catch (Exception fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** @param options of the server, by path */
    static Home of(Map<String, String> options) {
        return OPEN.computeIfAbsent(options, Home::new);
    }

    static void closeAll() {
        OPEN.values().forEach(Home::close);
        OPEN.clear();
    }

    private void startServer(int port) throws Exception {
        Map<String, String> all = new HashMap<>(AT_EASE);
        all.putAll(options);
        all.putAll(Map.of("data.dir", data.toString(), "http.port", Integer.toString(port), "management.port", "0"));
        server = HongbaoServer.start(HongbaoConfig.of(all));
    }

    Family family(String group) {
        return new Family(http, base, signer, group);
    }

    /** The server is gone, in order, until {@link #startAgain}. */
    void stop() {
        running().close();
        server = null;
    }

    private HongbaoServer running() {
        return Objects.requireNonNull(server, "the server is stopped");
    }

    /** With the same data, at the same address. */
    void startAgain() throws Exception {
        startServer(base.getPort());
    }

    URI management() {
        return URI.create("http://127.0.0.1:" + running().managementPort() + "/");
    }

    private void close() {
        if (server != null) {
            stop();
        }
        try {
            Directories.delete(data);
        } catch (IOException leftBehind) {
            // a temporary directory
        }
    }
}
