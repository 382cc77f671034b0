package dev.hongbao.store.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;

/**
 * Unpacks the servers from the class path, once per directory. Idempotent. A half-finished unpack and parallel unpacks do no
 * harm: each unpacks under a name of its own, then renames.
 */
final class Binaries {
    private final Path directory;
    private final Platform platform;

    Binaries(Path directory, Platform platform) {
        this.directory = directory;
        this.platform = platform;
    }

    /** The path of {@code redis-server}. */
    Path redis() {
        Path unpacked = unpack("redis", platform.redisResource, (in, to) -> {
            Files.createDirectories(to);
            Path program = to.resolve("redis-server");
            Files.copy(in, program);
            Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        });
        return unpacked.resolve("redis-server");
    }

    /** The directory with {@code bin/postgres} and {@code bin/initdb}. */
    Path postgres() {
        return unpack("postgres", platform.postgresResource, TarGz::unpack);
    }

    private interface Unpacking {
        void unpack(InputStream in, Path to) throws IOException;
    }

    private Path unpack(String name, String resource, Unpacking unpacking) {
        URL url = Binaries.class.getResource("/" + resource);
        if (url == null) {
            throw new EmbeddedStartException(resource + " is not on the class path: the jar is incomplete");
        }
        try {
            URLConnection connection = url.openConnection();
            connection.setUseCaches(false); // so that the jar is closed again
            try (InputStream in = connection.getInputStream()) {
                Path finished = directory.resolve(name + "-" + version(connection));
                if (!Files.isDirectory(finished)) {
                    Path partial =
                            directory.resolve(finished.getFileName() + DataDirectory.PARTIAL + UUID.randomUUID());
                    unpacking.unpack(in, partial);
                    DataDirectory.publish(partial, finished);
                }
                return finished.toAbsolutePath();
            }
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot unpack " + name + " into " + directory + ": " + e, e);
        }
    }

    /** The archive's checksum: each version of a server has a directory of its own. */
    private static String version(URLConnection connection) throws IOException {
        long version = connection instanceof JarURLConnection jar
                ? jar.getJarEntry().getCrc()
                : connection.getContentLengthLong();
        return Long.toHexString(version);
    }
}
