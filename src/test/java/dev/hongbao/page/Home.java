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
import org.jspecify.annotations.Nullable;

/**
 * A server of all page tests of this JVM, as a start with nothing configured but a host's own services. It ends with the JVM, or when
 * {@link KeptPages} ends it. So no class counts on what another class may change.
 */
final class Home {
    static final OpenIdProvider PROVIDER = new OpenIdProvider();
    static final Pictures PICTURES;

    /** It idles most of the time: with few shards, and looking seldom for what is due. */
    private static final Map<String, String> AT_EASE = Map.of("shards", "4", "journal.poll-interval", "250ms");

    private static @Nullable Home open;

    static {
        try {
            PICTURES = new Pictures();
        } catch (Exception fault) {
            throw new ExceptionInInitializerError(fault);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(Home::closeAll));
    }

    private final Path data;
    private @Nullable HongbaoServer server;

    private final HttpClient http = HttpClient.newHttpClient();

    final URI base;
    final TokenSigner signer;

    private Home() {
        try {
            data = Files.createTempDirectory("hongbao-home");
            startServer(0);
            base = URI.create("http://127.0.0.1:" + running().port());
            signer = new TokenSigner(TestKeys.ofFile(data.resolve("token.key")), null, null, Clock.systemUTC());
        } catch (Exception fault) {
            throw new IllegalStateException(fault);
        }
    }

    static Home open() {
        if (open == null) {
            open = new Home();
        }
        return open;
    }

    static void closeAll() {
        if (open != null) {
            open.close();
            open = null;
        }
    }

    private void startServer(int port) throws Exception {
        Map<String, String> all = new HashMap<>(AT_EASE);
        all.put("data.dir", data.toString());
        all.put("http.port", Integer.toString(port));
        all.put("management.port", "0");
        all.put("console.oidc-issuer", PROVIDER.issuer());
        all.put("console.oidc-client-id", "console");
        all.put("page.images", PICTURES.origin());
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
