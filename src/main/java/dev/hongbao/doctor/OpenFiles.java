package dev.hongbao.doctor;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * The process' limit of open files. Each connection is a file. At the limit, the kernel accepts no connection, not even on the management port.
 */
public final class OpenFiles {
    /** For the stores, the management port, the jar, logs and the JVM: a generous estimate. */
    private static final long RESERVED = 500;

    /** The default of {@code http.max-connections}. */
    static final int DEFAULT = 20_000;

    /** Below this, a lower limit is always a warning. */
    private static final int FEW = 1_000;

    private OpenFiles() {}

    /** The configured connections, or as many as the limit of open files allows. */
    public static int atMost(int maxConnections) {
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
