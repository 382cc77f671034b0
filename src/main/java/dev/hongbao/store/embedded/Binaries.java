package dev.hongbao.store.embedded;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/**
 * Unpacks the servers from the class path, once per directory. Idempotent. A half-finished unpack and parallel unpacks do no
 * harm: each unpacks under a name of its own, then renames.
 */
final class Binaries {
    /** The resource of Redis is this program itself. */
    private static final String REDIS = "redis-server";

    private final Path directory;
    private final Platform platform;

    Binaries(Path directory, Platform platform) {
        this.directory = directory;
        this.platform = platform;
    }

    Path redis() {
        return unpack("redis", platform.redisResource).resolve(REDIS);
    }

    /** The directory with {@code bin/postgres} and {@code bin/initdb}. */
    Path postgres() {
        return unpack("postgres", platform.postgresResource);
    }

    private Path unpack(String name, String resource) {
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
                    if (resource.endsWith(".tar.gz")) {
                        TarGz.unpack(in, partial);
                    } else {
                        Path program = Files.createDirectories(partial).resolve(REDIS);
                        Files.copy(in, program);
                        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
                    }
                    sync(partial);
                    DataDirectory.publish(partial, finished);
                }
                return finished.toAbsolutePath();
            }
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot unpack " + name + " into " + directory + ": " + e, e);
        }
    }

    /**
     * A finished directory is trusted for ever: a power cut must not leave empty programs in it. {@code share} has 666 small files,
     * which would take half a second.
     */
    private static void sync(Path unpacked) throws IOException {
        try (Stream<Path> all = Files.walk(unpacked)) {
            for (Path file : (Iterable<Path>) all::iterator) {
                if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                        && !file.startsWith(unpacked.resolve("share"))) {
                    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                        channel.force(true);
                    }
                }
            }
        }
    }

    /** The archive's checksum: each version of a server has a directory of its own. */
    private static String version(URLConnection connection) throws IOException {
        long version = connection instanceof JarURLConnection jar
                ? jar.getJarEntry().getCrc()
                : connection.getContentLengthLong();
        return Long.toHexString(version);
    }

    /** Unpacks {@code .tar.gz}. Stateless. */
    static final class TarGz {
        private static final int BUFFER_BYTES = 1 << 16;

        /** From the lowest bit of a mode up. */
        private static final PosixFilePermission[] PERMISSIONS = {
            PosixFilePermission.OTHERS_EXECUTE,
            PosixFilePermission.OTHERS_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.GROUP_EXECUTE,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.OWNER_EXECUTE,
            PosixFilePermission.OWNER_WRITE,
            PosixFilePermission.OWNER_READ
        };

        private TarGz() {}

        /**
         * Unpacks directories, files and symbolic links, with their permissions.
         *
         * @param to created if it is missing
         * @throws IOException also for an archive that is cut short or leads out of {@code to}; files written before stay
         */
        static void unpack(InputStream in, Path to) throws IOException {
            try (InputStream unpacked = new GZIPInputStream(new BufferedInputStream(in, BUFFER_BYTES), BUFFER_BYTES);
                    TarArchiveInputStream tar = new TarArchiveInputStream(unpacked)) {
                TarArchiveEntry entry;
                while ((entry = tar.getNextEntry()) != null) {
                    Path path = to.resolve(entry.getName()).normalize();
                    if (!path.startsWith(to)) {
                        throw new IOException("entry outside the archive: " + entry.getName());
                    }
                    write(tar, entry, path);
                }
                unpacked.transferTo(OutputStream.nullOutputStream()); // to the end, where a failure would show
            }
        }

        private static void write(TarArchiveInputStream tar, TarArchiveEntry entry, Path path) throws IOException {
            if (entry.isDirectory()) {
                Files.createDirectories(path);
            } else {
                Files.createDirectories(path.getParent());
                if (entry.isSymbolicLink()) {
                    Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
                    return;
                }
                Files.copy(tar, path);
            }
            Files.setPosixFilePermissions(path, permissions(entry.getMode()));
        }

        private static Set<PosixFilePermission> permissions(int mode) {
            Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
            for (int bit = 0; bit < PERMISSIONS.length; bit++) {
                if ((mode >> bit & 1) != 0) {
                    permissions.add(PERMISSIONS[bit]);
                }
            }
            return permissions;
        }
    }
}
