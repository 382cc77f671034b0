package dev.hongbao.access;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Set;

/** The data directory's signing key: 32 random bytes in a file that only its owner may read. */
final class TokenKey {
    private static final int BYTES = 32;
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> OWNER_ONLY_DIRECTORY = PosixFilePermissions.fromString("rwx------");

    private TokenKey() {}

    /**
     * Reads the key, or makes it when the file is missing. When two processes start at once, both get the same key. Blocks
     * on the disk.
     *
     * @throws IOException when it cannot be read or written, has another length, or others may read it
     */
    public static byte[] loadOrCreate(Path file) throws IOException {
        if (!Files.exists(file)) {
            create(file);
        }
        if (!OWNER_ONLY.containsAll(Files.getPosixFilePermissions(file))) {
            throw new IOException(
                    "others than its owner may use " + file + "; chmod 600 it, or delete it for a new key");
        }
        byte[] key = Files.readAllBytes(file);
        if (key.length != BYTES) {
            throw new IOException(file + " does not hold a key of 32 bytes; delete it for a new key");
        }
        return key;
    }

    /** Links a finished file to the name, so a partial key never appears; the link fails if the name is taken. */
    private static void create(Path file) throws IOException {
        byte[] key = new byte[BYTES];
        new SecureRandom().nextBytes(key);
        Path directory = file.toAbsolutePath().getParent();
        if (directory == null) {
            throw new IOException(file + " is not a file's path");
        }
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(directory, PosixFilePermissions.asFileAttribute(OWNER_ONLY_DIRECTORY));
        }
        Path draft =
                Files.createTempFile(directory, "token-key", ".new", PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        try {
            Files.write(draft, key);
            Files.createLink(file, draft);
        } catch (FileAlreadyExistsException another) {
            // Another process was first; its key is the one.
        } finally {
            Files.deleteIfExists(draft);
        }
    }
}
