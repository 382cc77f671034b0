package dev.hongbao.web.http;

import dev.hongbao.testing.ServerProcess;
import dev.hongbao.testing.TestServers;
import dev.hongbao.web.access.TokenKey;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;

/** A client of servers in processes of their own, which share their stores and the key of their tokens. */
abstract class ServerProcessClient extends HttpApiClient {
    @TempDir
    private Path directory;

    /** Of the server that is asked from now on. */
    URI base;

    @Override
    final URI base() {
        return base;
    }

    @Override
    final byte[] secret() {
        try {
            return TokenKey.loadOrCreate(key());
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    private Path key() {
        return directory.resolve("token.key");
    }

    /** Starts a server without limits on requests; does not wait. */
    final ServerProcess serve(TestServers stores, String name, String... flags) {
        return serve(stores, name, Map.of(), flags);
    }

    /** As above, with more in its environment. */
    final ServerProcess serve(TestServers stores, String name, Map<String, String> environment, String... flags) {
        secret(); // makes the key
        String[] common = {"--token-secret-file", key().toString(), "--limits-requests-per-second", "0"};
        return ServerProcess.start(
                directory.resolve(name),
                environment,
                Stream.of(ServerProcess.storeFlags(stores), common, flags)
                        .flatMap(Stream::of)
                        .toArray(String[]::new));
    }
}
