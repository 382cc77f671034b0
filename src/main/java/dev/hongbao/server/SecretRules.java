package dev.hongbao.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The files with keys. Who has a shared secret signs tokens for everybody. */
final class SecretRules {
    private static final int MIN_BYTES = 32;

    /** 32 random bytes have fewer once in 10^40 times, as hex digits once in 10^9. */
    private static final int MIN_DISTINCT = 8;

    /** Where an engine shows a container its own secrets, often with mode 0444: nobody else's processes are in there. */
    static final Path MOUNTED = Path.of("/run/secrets");

    private static final String MAKE = "make one with: openssl rand -hex 32 > FILE && chmod 600 FILE";

    private SecretRules() {}

    /**
     * Blocks on the disk. What others may write is refused. What others may read is only warned of, since orchestrators mount
     * secrets so.
     *
     * @return without the option, see {@link StartFinding#of}
     */
    static List<StartFinding> check(Path file) {
        List<StartFinding> findings = new ArrayList<>();
        try {
            permissions(file, findings);
            byte[] secret = Files.readAllBytes(file);
            if (secret.length < MIN_BYTES) {
                findings.add(StartFinding.refuse(file + " holds " + secret.length + " bytes, and a secret has at least "
                        + MIN_BYTES + "; " + MAKE));
            } else if (distinct(secret) < MIN_DISTINCT) {
                findings.add(StartFinding.refuse(file + " repeats a few bytes and can be guessed; " + MAKE));
            }
        } catch (IOException unreadable) {
            findings.add(StartFinding.refuse("cannot read " + file + ": " + unreadable));
        }
        return findings;
    }

    private static long distinct(byte[] bytes) {
        boolean[] seen = new boolean[256];
        int count = 0;
        for (byte each : bytes) {
            count += seen[each & 0xff] ? 0 : 1;
            seen[each & 0xff] = true;
        }
        return count;
    }

    /** A file with public keys: who may write it adds one of his own. Blocks on the disk. */
    static List<StartFinding> checkPublic(Path file) {
        try {
            return mayOthers(file, PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE)
                    ? List.of(StartFinding.warn("others than its owner may write " + file
                            + ", and so have their tokens believed; chmod go-w it"))
                    : List.of();
        } catch (IOException unreadable) {
            return List.of(StartFinding.refuse("cannot read " + file + ": " + unreadable));
        }
    }

    /**
     * Who may read a file with a password or a key may use it. Blocks on the disk.
     *
     * @param mounted a directory; of files below it is not warned that all may read them: {@link #MOUNTED}
     */
    static List<StartFinding> checkPrivate(Path file, Path mounted) {
        boolean isMounted = file.toAbsolutePath().normalize().startsWith(mounted);
        try {
            return mayOthers(file, PosixFilePermission.OTHERS_WRITE)
                            || (!isMounted && mayOthers(file, PosixFilePermission.OTHERS_READ))
                    ? List.of(StartFinding.warn(
                            "everybody on this machine may read or write " + file + ", which is secret; chmod o-rw it"))
                    : List.of();
        } catch (IOException unreadable) {
            return List.of(StartFinding.refuse("cannot read " + file + ": " + unreadable));
        }
    }

    private static void permissions(Path file, List<StartFinding> findings) throws IOException {
        if (mayOthers(file, PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE)) {
            findings.add(StartFinding.refuse("others than its owner may write " + file
                    + ", and so sign tokens for everybody; chmod 600 it, and change the secret"));
        } else if (mayOthers(file, PosixFilePermission.GROUP_READ, PosixFilePermission.OTHERS_READ)) {
            findings.add(StartFinding.warn(
                    "others than its owner may read " + file + ", and so sign tokens for everybody; chmod 600 it"));
        }
    }

    /** Whether somebody has any of these permissions. */
    private static boolean mayOthers(Path file, PosixFilePermission... any) throws IOException {
        try {
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
            return Stream.of(any).anyMatch(permissions::contains);
        } catch (UnsupportedOperationException otherFileSystem) {
            return false;
        }
    }
}
