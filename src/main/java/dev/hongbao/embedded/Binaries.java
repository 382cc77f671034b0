package dev.hongbao.embedded;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/**
 * Unpacks the servers from the class path, each once per directory. Idempotent and safe against a half-finished unpack
 * and against others at the same work: everything is made under another name and then renamed.
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

    /** The directory that holds {@code bin/postgres} and {@code bin/initdb}. */
    Path postgres() {
        return unpack("postgres", platform.postgresResource, Binaries::untar);
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
                    unpacking.unpack(new BufferedInputStream(in, 1 << 16), partial);
                    DataDirectory.publish(partial, finished);
                }
                return finished.toAbsolutePath();
            }
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot unpack " + name + " into " + directory + ": " + e, e);
        }
    }

    /** The archive's checksum: another version of the server always unpacks to another directory. */
    private static String version(URLConnection connection) throws IOException {
        long version = connection instanceof JarURLConnection jar
                ? jar.getJarEntry().getCrc()
                : connection.getContentLengthLong();
        return Long.toHexString(version);
    }

    private static void untar(InputStream in, Path to) throws IOException {
        try (InputStream unpacked = new GZIPInputStream(in, 1 << 16);
                TarArchiveInputStream tar = new TarArchiveInputStream(unpacked)) {
            TarArchiveEntry entry;
            while ((entry = tar.getNextEntry()) != null) {
                Path path = to.resolve(entry.getName()).normalize();
                if (!path.startsWith(to)) {
                    throw new IOException("entry outside the archive: " + entry.getName());
                }
                if (forDevelopers(entry.getName())) {
                    continue;
                }
                if (entry.isDirectory()) {
                    Files.createDirectories(path);
                    continue;
                }
                Files.createDirectories(path.getParent());
                if (entry.isSymbolicLink()) {
                    Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
                } else {
                    Files.copy(tar, path);
                    boolean program = (entry.getMode() & 0b001_000_000) != 0;
                    Files.setPosixFilePermissions(
                            path, PosixFilePermissions.fromString(program ? "rwxr-xr-x" : "rw-r--r--"));
                }
            }
            unpacked.transferTo(OutputStream.nullOutputStream()); // to the end, where a failure would show
        }
    }

    private static boolean forDevelopers(String entry) {
        return entry.endsWith(".a") || entry.contains("/pgxs/") || entry.contains("/pkgconfig/");
    }
}
