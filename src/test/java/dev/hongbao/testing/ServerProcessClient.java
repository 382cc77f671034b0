package dev.hongbao.testing;

import dev.hongbao.access.TestKeys;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;

/** A client of servers in processes of their own, which share their stores and the key of their tokens. */
public abstract class ServerProcessClient extends HttpApiClient {
    /** Of all tests of a class. */
    @TempDir
    private static Path directory;

    /** Of the server that is asked from now on. */
    public URI base;

    @Override
    public final URI base() {
        return base;
    }

    @Override
    public final byte[] secret() {
        try {
            return TestKeys.ofFile(key());
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    private Path key() {
        return directory.resolve("token.key");
    }

    /** Starts a server without limits on requests; does not wait. */
    public final ServerProcess serve(TestServers stores, String name, String... flags) {
        return serve(stores, name, Map.of(), flags);
    }

    /** As above, with more in its environment. */
    public final ServerProcess serve(
            TestServers stores, String name, Map<String, String> environment, String... flags) {
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
