package dev.hongbao.testing;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.examples.Expander;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZInputStream;
import org.tukaani.xz.XZOutputStream;

/**
 * The data directory of a server that has stopped, as one file: its Postgres, its Redis and its keys, without the programs and the logs. Nearly
 * all of it is Postgres' own tables, the same in each database: packed by xz it is less than two megabytes.
 */
public final class SavedDirectory {
    private static final Set<String> MADE_ANEW = Set.of("bin", "logs", "lock");

    private SavedDirectory() {}

    /** Takes a minute. */
    public static void write(Path directory, Path file) throws IOException {
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(new XZOutputStream(
                        new BufferedOutputStream(Files.newOutputStream(file)), new LZMA2Options(9)));
                Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted().toList()) {
                Path name = directory.relativize(path);
                if (name.toString().isEmpty() || isMadeAnew(name)) {
                    continue;
                }
                tar.putArchiveEntry(new TarArchiveEntry(path, name.toString()));
                if (Files.isRegularFile(path)) {
                    Files.copy(path, tar);
                }
                tar.closeArchiveEntry();
            }
        }
    }

    /** The programs, the lock and the logs; postmaster.opts tells of this machine's paths. */
    private static boolean isMadeAnew(Path name) {
        return MADE_ANEW.contains(name.getName(0).toString())
                || name.toString().endsWith(".log")
                || name.endsWith("postmaster.opts");
    }

    /** As it was, only for its owner: Postgres refuses a directory that others may read. */
    public static void load(Path file, Path directory) throws IOException {
        try (TarArchiveInputStream tar =
                new TarArchiveInputStream(new XZInputStream(new BufferedInputStream(Files.newInputStream(file))))) {
            new Expander().expand(tar, directory);
        }
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.toList()) {
                String permissions = Files.isDirectory(path) ? "rwx------" : "rw-------";
                Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
            }
        }
    }
}
