package dev.hongbao.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.server.HongbaoServer;
import dev.hongbao.web.access.TokenKey;
import dev.hongbao.web.access.TokenSigner;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/** A server started with nothing configured, two people with a browser each, and the others, who act over HTTP. */
final class BrowserFixture implements AutoCloseable {
    private final Deque<AutoCloseable> started = new ArrayDeque<>();
    private final Path data;
    private final Map<String, String> options;
    private HongbaoServer server;

    final URI base;
    final Visitor mei;
    final Visitor ben;
    final Family family;

    /** @param data where the server keeps everything */
    BrowserFixture(Path data) throws Exception {
        this(data, Map.of());
    }

    /** The same. @param options more of the server's, by path */
    BrowserFixture(Path data, Map<String, String> options) throws Exception {
        this.data = data;
        this.options = options;
        // The browsers first: a missing one is told at once.
        try {
            mei = visitor(1280, 860);
            ben = visitor(1180, 820);
            startServer(0);
        } catch (Throwable fault) {
            close();
            throw fault;
        }
        base = URI.create("http://127.0.0.1:" + server.port());
        family = new Family(
                base, new TokenSigner(TokenKey.loadOrCreate(data.resolve("token.key")), null, null, Clock.systemUTC()));
    }

    private Visitor visitor(int width, int height) {
        Visitor visitor = new Visitor(Browser.start(width, height));
        started.push(visitor);
        return visitor;
    }

    private void startServer(int port) throws Exception {
        Map<String, String> all = new HashMap<>(options);
        all.putAll(Map.of("data.dir", data.toString(), "http.port", Integer.toString(port), "management.port", "0"));
        server = HongbaoServer.start(HongbaoConfig.of(all));
    }

    /** The server is gone, in order, until {@link #startAgain}. */
    void stop() {
        server.close();
    }

    /** With the same data, at the same address. */
    void startAgain() throws Exception {
        startServer(base.getPort());
    }

    URI management() {
        return URI.create("http://127.0.0.1:" + server.managementPort() + "/");
    }

    /** Neither page has anything to complain about. */
    void assertNoComplaints() {
        assertThat(mei.browser().complaints()).isEmpty();
        assertThat(ben.browser().complaints()).isEmpty();
    }

    @Override
    public void close() throws Exception {
        for (AutoCloseable each : started) {
            each.close();
        }
        if (server != null) {
            server.close();
        }
    }
}
