package dev.hongbao.server;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * The process' limit of open files, of which each connection is one: without one left the kernel lets nobody in, on the
 * management port neither.
 */
final class OpenFiles {
    /** For the stores, the management port, the jar, logs and the JVM itself: an estimate, with room. */
    private static final long RESERVED = 500;

    /** Of {@code http.max-connections}. */
    static final int DEFAULT = 20_000;

    /** Fewer connections than this are worth a warning whatever is configured. */
    private static final int FEW = 1_000;

    private OpenFiles() {}

    /** As many connections as configured, or as there may be files. */
    static int atMost(int maxConnections) {
        return atMost(maxConnections, limit());
    }

    /** @param openFiles the limit; 0 or less when it is not known */
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

    /** The default is a bound that nobody chose: to lower it needs no word, unless little is left. */
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
