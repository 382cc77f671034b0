package dev.hongbao.testing;

import dev.hongbao.access.TokenTrust;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.server.HongbaoServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The whole server, in this JVM, on test servers. */
public final class TestServer implements AutoCloseable {
    private final HongbaoConfig config;
    private final HongbaoServer server;

    private TestServer(HongbaoConfig config, HongbaoServer server) {
        this.config = config;
        this.server = server;
    }

    /** Starts on free ports with its own key. */
    public static TestServer start(TestServers servers, Map<String, String> options) {
        try {
            Map<String, String> all = new HashMap<>(Map.of(
                    "data.dir",
                    Files.createDirectories(Path.of("target", "test-data")).toString(),
                    "http.port",
                    "0",
                    "management.port",
                    "0",
                    "redis.url",
                    servers.redisUrl(),
                    "postgres.url",
                    servers.postgresAppUrl(),
                    "postgres.owner-url",
                    servers.postgresOwnerUrl()));
            all.putAll(TestEngine.DEFAULTS);
            all.putAll(options);
            HongbaoConfig config = HongbaoConfig.of(all);
            return new TestServer(config, HongbaoServer.start(config));
        } catch (Exception fault) {
            throw new IllegalStateException(fault);
        }
    }

    public URI base() {
        return URI.create("http://127.0.0.1:" + server.port());
    }

    public URI management() {
        return URI.create("http://127.0.0.1:" + server.managementPort());
    }

    /** The key that signs tokens for it. */
    public byte[] secret() {
        try {
            return TokenTrust.secret(config.web().token(), config.engine().tokenKeyFile());
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
