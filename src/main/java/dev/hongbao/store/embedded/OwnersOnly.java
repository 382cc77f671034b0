package dev.hongbao.store.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Files and directories that only their owner may read: the stores write down users' money. Stateless. */
final class OwnersOnly {
    private static final Logger LOG = LoggerFactory.getLogger(OwnersOnly.class);

    static final FileAttribute<Set<PosixFilePermission>> FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    static final FileAttribute<Set<PosixFilePermission>> DIRECTORY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private OwnersOnly() {}

    /** Makes a directory, with its parents, if it is missing. Removes the rights of other users. */
    static void directory(Path path) throws IOException {
        if (!Files.isDirectory(path)) {
            Files.createDirectories(path, DIRECTORY);
        }
        takeAway(path);
    }

    /** Makes an empty file if it is missing. Removes the rights of other users. */
    static void file(Path path) throws IOException {
        if (!Files.exists(path)) {
            Files.createFile(path, FILE);
        }
        takeAway(path);
    }

    /**
     * Rights of another user's directory, such as a mounted volume, cannot be changed. A warning is logged, and the directory is
     * used as it is.
     */
    private static void takeAway(Path path) throws IOException {
        Set<PosixFilePermission> owners = EnumSet.copyOf(DIRECTORY.value());
        owners.retainAll(Files.getPosixFilePermissions(path));
        if (owners.size() == Files.getPosixFilePermissions(path).size()) {
            return;
        }
        try {
            Files.setPosixFilePermissions(path, owners);
        } catch (IOException refused) {
            LOG.warn(
                    "users other than the owner may read {}, and its permissions cannot be changed: {}",
                    path,
                    refused.toString());
        }
    }
}
