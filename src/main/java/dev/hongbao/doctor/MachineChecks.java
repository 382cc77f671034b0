package dev.hongbao.doctor;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.ListenAddress;
import dev.hongbao.config.SecretUrl;
import dev.hongbao.config.WebConfig.HttpConfig;
import dev.hongbao.config.WebConfig.TokenConfig;
import dev.hongbao.doctor.Check.Diagnosis;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks of this machine: ports, addresses, files with keys, the disk and the clock. */
final class MachineChecks {
    private static final int MIN_BYTES = 32;

    /** 32 random bytes have fewer once in 10^40 times, as hex digits once in 10^9. */
    private static final int MIN_DISTINCT = 8;

    /** The secrets that an engine mounts into a container, often with mode 0444: no other users have processes there. */
    static final Path MOUNTED = Path.of("/run/secrets");

    private static final String MAKE = "make one with: openssl rand -hex 32 > FILE && chmod 600 FILE";
    private static final Duration CLOCKS_APART = Duration.ofSeconds(1);
    private static final long LITTLE_DISK_BYTES = 1L << 30;

    private MachineChecks() {}

    /** Ports, addresses, secrets and where keys come from. Blocks on the disk and on names. */
    static List<Diagnosis> beforeStart(HongbaoConfig config) {
        List<Diagnosis> findings = new ArrayList<>();
        findings.addAll(ports(config));
        findings.addAll(exposure(config));
        findings.addAll(OpenFiles.check(config.web().http().maxConnections()));
        findings.addAll(tokens(config.web().token()));
        privateFiles(config)
                .forEach((option, file) ->
                        checkPrivate(file, MOUNTED).forEach(finding -> findings.add(finding.of(option))));
        return findings;
    }

    /** Files by option, except the keys of tokens, which {@link #checkSecret} reads. */
    private static Map<String, Path> privateFiles(HongbaoConfig config) {
        Map<String, Path> files = new LinkedHashMap<>();
        put(files, "redis.url-file", config.engine().redis().url());
        put(files, "postgres.url-file", config.engine().postgres().url());
        put(files, "postgres.owner-url-file", config.engine().postgres().ownerUrl());
        put(files, "http.tls-key", config.web().http().address().tls());
        put(files, "management.tls-key", config.web().management().address().tls());
        return files;
    }

    private static void put(Map<String, Path> files, String option, @Nullable SecretUrl url) {
        Path file = url == null ? null : url.file();
        if (file != null) {
            files.put(option, file);
        }
    }

    private static void put(Map<String, Path> files, String option, ListenAddress.@Nullable Tls tls) {
        if (tls != null) {
            files.put(option, tls.key());
        }
    }

    /** Tries each address and port. Another process may still take one a moment later. */
    static List<Diagnosis> ports(HongbaoConfig config) {
        List<Diagnosis> findings = new ArrayList<>();
        port("http", config.web().http().address(), findings);
        port("management", config.web().management().address(), findings);
        return findings;
    }

    private static void port(String part, ListenAddress address, List<Diagnosis> findings) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true); // as the server does: connections in TIME_WAIT do not count
            socket.bind(new InetSocketAddress(InetAddress.getByName(address.host()), address.port()));
        } catch (UnknownHostException unknown) {
            findings.add(Check.LISTENS.found(part + ".host: " + address.host() + " is no address of this machine"));
        } catch (IOException taken) {
            findings.add(Check.LISTENS.found(part + ".port: cannot listen on " + address.host() + ":" + address.port()
                    + " (" + taken.getMessage() + "): stop who has it, or choose another with --" + part
                    + "-port or --" + part + "-host"));
        }
    }

    /** Connections that others can read on the network. */
    static List<Diagnosis> exposure(HongbaoConfig config) {
        List<Diagnosis> findings = new ArrayList<>();
        api(config.web().http(), findings);
        String managementHost = config.web().management().address().host();
        if (!ListenAddress.isLoopback(managementHost)) {
            findings.add(Check.LISTENS_TO_ALL.found("management.host: listening on "
                    + managementHost
                    + ": the console's overview and the metrics need no token. Let only operators reach this port"));
        }
        return findings;
    }

    /** The API's connections carry tokens in clear text: a reader can use them. */
    private static void api(HttpConfig http, List<Diagnosis> findings) {
        String host = http.address().host();
        if (ListenAddress.isLoopback(host) || http.address().tls() != null) {
            return;
        }
        if (http.proxyProtocol() == HttpConfig.ProxyProtocol.ON) {
            // A proxy that terminates TLS and forwards addresses looks the same from here.
            findings.add(Check.CLEAR_TEXT.found("http.proxy-protocol: listening on " + host
                    + " without TLS: a proxy that passes TCP through has none; name http.tls-certificate"));
        } else if (http.trustedProxies().isEmpty()) {
            findings.add(Check.CLEAR_TEXT.found("http.host: listening on " + host
                    + " without TLS: tokens travel in clear text. Name a certificate in http.tls-certificate, or put a proxy with TLS"
                    + " in front, let only it reach this port, and name it in http.trusted-proxies"));
        }
    }

    /** Checks the configured keys. Blocks on the disk and on names. */
    static List<Diagnosis> tokens(TokenConfig token) {
        List<Diagnosis> findings = new ArrayList<>();
        if (token.algorithm().isSymmetric()) {
            token.secretFiles()
                    .forEach((file, option) -> checkSecret(file).forEach(finding -> findings.add(finding.of(option))));
        }
        token.publicKeyFiles().forEach(file -> findings.addAll(named("token.public-key-files", file)));
        Path jwks = token.jwksFile();
        if (jwks != null) {
            findings.addAll(named("token.jwks-file", jwks));
        }
        SecretUrl url = token.jwksUrl();
        if (url != null && !url.value().startsWith("https:")) {
            String host = URI.create(url.value()).getHost();
            if (!ListenAddress.isLoopback(host)) {
                findings.add(Check.CLEAR_TEXT.found("token.jwks-url: the keys come from " + host
                        + " without TLS: who can change them on the way signs tokens for everybody"));
            }
        }
        return findings;
    }

    private static List<Diagnosis> named(String option, Path file) {
        return checkPublic(file).stream().map(finding -> finding.of(option)).toList();
    }

    /**
     * Refuses a file that others can write. Warns of a file that others can read, since orchestrators mount secrets so. Blocks on the disk.
     *
     * @return without the option, see {@link Diagnosis#of}
     */
    static List<Diagnosis> checkSecret(Path file) {
        List<Diagnosis> findings = new ArrayList<>();
        try {
            permissions(file, findings);
            byte[] secret = Files.readAllBytes(file);
            if (secret.length < MIN_BYTES) {
                findings.add(Check.FILE.found(file + " holds " + secret.length + " bytes, and a secret has at least "
                        + MIN_BYTES + "; " + MAKE));
            } else if (distinct(secret) < MIN_DISTINCT) {
                findings.add(Check.FILE.found(file + " repeats a few bytes and can be guessed; " + MAKE));
            }
        } catch (IOException unreadable) {
            findings.add(Check.FILE.found("cannot read " + file + ": " + unreadable));
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

    /** Checks a file with public keys: a user who can write it can add a key. Blocks on the disk. */
    static List<Diagnosis> checkPublic(Path file) {
        try {
            return mayOthers(file, PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE)
                    ? List.of(Check.FILE_PERMISSIONS.found("others than its owner may write " + file
                            + ", and so have their tokens believed; chmod go-w it"))
                    : List.of();
        } catch (IOException unreadable) {
            return List.of(Check.FILE.found("cannot read " + file + ": " + unreadable));
        }
    }

    /**
     * Checks a file with a password or a key: a user who can read it can use it. Blocks on the disk.
     *
     * @param mounted a directory whose files all users may read, without a warning: {@link #MOUNTED}
     */
    static List<Diagnosis> checkPrivate(Path file, Path mounted) {
        boolean isMounted = file.toAbsolutePath().normalize().startsWith(mounted);
        try {
            return mayOthers(file, PosixFilePermission.OTHERS_WRITE)
                            || (!isMounted && mayOthers(file, PosixFilePermission.OTHERS_READ))
                    ? List.of(Check.FILE_PERMISSIONS.found(
                            "everybody on this machine may read or write " + file + ", which is secret; chmod o-rw it"))
                    : List.of();
        } catch (IOException unreadable) {
            return List.of(Check.FILE.found("cannot read " + file + ": " + unreadable));
        }
    }

    private static void permissions(Path file, List<Diagnosis> findings) throws IOException {
        if (mayOthers(file, PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE)) {
            findings.add(Check.FILE.found("others than its owner may write " + file
                    + ", and so sign tokens for everybody; chmod 600 it, and change the secret"));
        } else if (mayOthers(file, PosixFilePermission.GROUP_READ, PosixFilePermission.OTHERS_READ)) {
            findings.add(Check.FILE_PERMISSIONS.found(
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

    static List<Diagnosis> disk(long freeBytes, long allBytes) {
        String free = freeBytes / (1 << 20) + " MiB of " + allBytes / (1 << 20) + " MiB";
        if (freeBytes < LITTLE_DISK_BYTES || freeBytes < 0.05 * allBytes) {
            return List.of(Check.DISK_FULL.found("The disk of the data directory has " + free + " left"));
        }
        return List.of(
                freeBytes < 0.15 * allBytes
                        ? Check.DISK.found("The disk of the data directory has " + free + " left")
                        : Diagnosis.well("The disk of the data directory has " + free + " left"));
    }

    static List<Diagnosis> clock(String whose, long millis, long nowMillis) {
        long apart = Math.abs(millis - nowMillis);
        return apart > CLOCKS_APART.toMillis()
                ? List.of(
                        Check.CLOCKS.found("The clock of " + whose + " and this machine's are " + apart + " ms apart"))
                : List.of();
    }

    /**
     * The process' limit of open files. Each connection is a file. At the limit, the kernel accepts no connection, not even on the management port.
     */
    static final class OpenFiles {
        /** For the stores, the management port, the jar, logs and the JVM: a generous estimate. */
        private static final long RESERVED = 500;

        /** The default of {@code http.max-connections}. */
        static final int DEFAULT = 20_000;

        /** Below this, a lower limit is always a warning. */
        private static final int FEW = 1_000;

        private OpenFiles() {}

        /** The configured connections, or as many as the limit of open files allows. */
        static int atMost(int maxConnections) {
            return atMost(maxConnections, limit());
        }

        /** @param openFiles the limit; 0 or less if it is unknown */
        static int atMost(int maxConnections, long openFiles) {
            return openFiles <= 0 || maxConnections <= openFiles - RESERVED
                    ? maxConnections
                    : (int) Math.max(1, Math.max(openFiles - RESERVED, openFiles / 2));
        }

        private static long limit() {
            return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                    ? unix.getMaxFileDescriptorCount()
                    : 0;
        }

        static List<Diagnosis> check(int maxConnections) {
            return check(maxConnections, limit());
        }

        /** Lowering the default, which no operator chose, is no warning unless few connections are left. */
        static List<Diagnosis> check(int maxConnections, long openFiles) {
            int fewer = atMost(maxConnections, openFiles);
            if (fewer == maxConnections || maxConnections == DEFAULT && fewer >= FEW) {
                return List.of();
            }
            return List.of(Check.OPEN_FILES.found("http.max-connections: this process may open only " + openFiles
                    + " files, so the server takes " + fewer + " connections, not " + maxConnections
                    + ". Raise the limit (ulimit -n, LimitNOFILE) to " + (maxConnections + RESERVED)
                    + ", or lower the option"));
        }
    }
}
