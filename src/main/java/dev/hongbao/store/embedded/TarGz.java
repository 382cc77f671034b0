package dev.hongbao.store.embedded;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/** Unpacks {@code .tar.gz}. Stateless. */
final class TarGz {
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
