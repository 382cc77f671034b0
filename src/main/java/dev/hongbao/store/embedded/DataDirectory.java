package dev.hongbao.store.embedded;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A directory that one server at a time owns. Only its owner may read it. Its names:
 *
 * <pre>
 * lock       held while a server runs here
 * bin/       the unpacked binaries
 * redis/     the append-only file
 * postgres/  the cluster
 * logs/      what the children print
 * secrets/   passwords
 * </pre>
 */
final class DataDirectory implements AutoCloseable {
    /** Part of a name while its file or directory is being made; left over only after a crash. */
    static final String PARTIAL = ".partial-";

    /**
     * The locks of this JVM. Static, because a lock ends when its channel is collected. Checked before the file is opened:
     * closing a second channel of a file releases the first one's lock (POSIX).
     */
    private static final Map<Path, FileLock> HELD = new ConcurrentHashMap<>();

    private final Path root;

    private DataDirectory(Path root) {
        this.root = root;
    }

    /**
     * Takes the directory, and creates it if it is missing.
     *
     * @throws EmbeddedServers.InUseException if a server owns it
     */
    static DataDirectory take(Path directory) {
        try {
            OwnersOnly.directory(directory);
            Path root = directory.toRealPath();
            synchronized (HELD) {
                FileLock lock = lock(root);
                if (lock == null) {
                    throw new EmbeddedServers.InUseException(directory);
                }
                HELD.put(root, lock);
            }
            DataDirectory taken = new DataDirectory(root);
            taken.directory("bin");
            taken.directory("logs");
            taken.directory("secrets");
            deletePartial(root);
            deletePartial(root.resolve("bin"));
            return taken;
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot use the data directory " + directory + ": " + e, e);
        }
    }

    /** Whether a server, in this JVM or another, owns the directory now. */
    static boolean taken(Path directory) {
        try {
            if (!Files.exists(directory.resolve("lock"))) {
                return false;
            }
            synchronized (HELD) {
                FileLock lock = lock(directory.toRealPath());
                if (lock != null) {
                    lock.acquiredBy().close();
                }
                return lock == null;
            }
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot look into the data directory " + directory + ": " + e, e);
        }
    }

    private static @Nullable FileLock lock(Path root) throws IOException {
        if (HELD.containsKey(root)) {
            return null;
        }
        FileChannel channel = FileChannel.open(
                root.resolve("lock"), Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), OwnersOnly.FILE);
        FileLock lock = channel.tryLock();
        if (lock == null) {
            channel.close();
        }
        return lock;
    }

    Path bin() {
        return root.resolve("bin");
    }

    Path log(String name) {
        return root.resolve("logs").resolve(name + ".log");
    }

    Path path(String name) {
        return root.resolve(name);
    }

    /** Deletes a file if it is there. Idempotent. */
    void forget(String name) {
        try {
            Files.deleteIfExists(path(name));
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot delete " + path(name) + ": " + e, e);
        }
    }

    /** A directory for its owner only; made if it is missing. */
    Path directory(String name) {
        Path path = root.resolve(name);
        try {
            OwnersOnly.directory(path);
            return path;
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot create " + path + ": " + e, e);
        }
    }

    /** A password of 128 random bits as hex. The first call draws it. */
    String secret(String name) {
        Path file = root.resolve("secrets").resolve(name);
        if (!Files.exists(file)) {
            byte[] bits = new byte[16];
            new SecureRandom().nextBytes(bits);
            write(file, HexFormat.of().formatHex(bits));
        }
        return read(file);
    }

    /** A password of a directory that another server owns. It is there before the port is. */
    static String known(Path directory, String name) {
        return read(directory.resolve("secrets").resolve(name));
    }

    /** Writes a small file for its owner only, whole or not at all. */
    static void write(Path file, String text) {
        Path partial = file.resolveSibling(file.getFileName() + PARTIAL + "w");
        try {
            Files.deleteIfExists(partial);
            Files.createFile(partial, OwnersOnly.FILE);
            try (FileChannel channel = FileChannel.open(partial, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
                channel.force(true);
            }
            Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot write " + file + ": " + e, e);
        }
    }

    static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot read " + file + ": " + e, e);
        }
    }

    /** The number in a file; 0 for a missing file and for other text. */
    static int readNumber(Path file) {
        try {
            return Files.exists(file) ? Integer.parseInt(read(file)) : 0;
        } catch (NumberFormatException notANumber) {
            return 0;
        }
    }

    /** Gives a finished directory its name. If another process was faster, its directory stays. */
    static void publish(Path partial, Path finished) throws IOException {
        try {
            Files.move(partial, finished, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            if (!Files.isDirectory(finished)) {
                throw e;
            }
            delete(partial);
        }
    }

    private static void deletePartial(Path directory) throws IOException {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(directory, "*" + PARTIAL + "*")) {
            for (Path each : left) {
                ChildProcess.awaitNoneIn(each); // a killed owner's children may still work in it
                delete(each);
            }
        }
    }

    private static void delete(Path tree) throws IOException {
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
                    throws IOException {
                Files.deleteIfExists(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** Releases the directory. Idempotent. */
    @Override
    public void close() {
        FileLock lock = HELD.remove(root);
        if (lock != null) {
            try {
                lock.acquiredBy().close();
            } catch (IOException e) {
                throw new EmbeddedStartException("cannot give back " + root + ": " + e, e);
            }
        }
    }
}
