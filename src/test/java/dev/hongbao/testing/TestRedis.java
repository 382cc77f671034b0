package dev.hongbao.testing;

import dev.hongbao.store.embedded.EmbeddedRedis;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.tools.local.Directories;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import redis.clients.jedis.Jedis;

/** One test class' Redis: a process of its own, or a shared one that was emptied. */
abstract sealed class TestRedis implements AutoCloseable {
    abstract String url();

    @Override
    public void close() {}

    /** A shared one; emptied here. */
    static final class Emptied extends TestRedis {
        private final String url;

        Emptied(String url) {
            this.url = url;
            try (Jedis redis = new Jedis(URI.create(url))) {
                redis.flushAll();
                redis.scriptFlush();
            }
        }

        @Override
        String url() {
            return url;
        }
    }

    /** A process; on the same directory it has the same URL again. */
    static final class Own extends TestRedis {
        private final Path directory;
        private final EmbeddedOptions options;
        EmbeddedRedis process;

        Own(Path directory, EmbeddedOptions options) {
            this.directory = directory;
            this.options = options;
            this.process = EmbeddedRedis.start(directory, options);
        }

        @Override
        String url() {
            return process.url();
        }

        void stop() {
            process.close();
        }

        void start() {
            String before = process.url();
            process = EmbeddedRedis.start(directory, options);
            if (!process.url().equals(before)) {
                throw new IllegalStateException("somebody else took the port of " + before);
            }
        }

        /** What it has written is lost. Only while it is stopped. */
        void loseData() {
            delete(directory.resolve("redis/appendonlydir"));
        }

        @Override
        public void close() {
            process.close();
            delete(directory);
        }

        private static void delete(Path tree) {
            try {
                Directories.delete(tree);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
